# Machines to run it on, and the tests.

check: ## the static checks: layers, purity, headers, sizes, format, clang-tidy, both compilers
	@$(PYTHON) tools/check.py

.PHONY: check
