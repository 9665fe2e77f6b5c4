# Machines to run it on, and the tests.

# CHECK=layers runs one; the names are in tools/check/__main__.py.
check: image ## the static checks: layers, purity, headers, sizes, format, clang-tidy, compilers
	@IMAGE_CFLAGS='$(IMAGE_CFLAGS)' $(PYTHON) tools/check $(CHECK)

format: ## put all C files into the repository's format
	find $(wildcard include boot arch kernel sched mm vmm tests tools) -name '*.[ch]' -exec clang-format -i {} +

.PHONY: check format
