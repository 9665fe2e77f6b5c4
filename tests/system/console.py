"""The serial console of a running machine: send a command, wait for text, read a JSON answer.

The machine's COM1 is a socket that the emulator connects to, so QEMU and Bochs look the same from
here. Every wait is bounded; a bound is there to find hangs and is far above what a wait should take.
"""
import json
import os
import re

import pexpect
from pexpect import fdpexpect

PROMPT = "numen> "
QUIET_SECONDS = 0.3


class ConsoleError(Exception):
    """The machine did not say what was waited for; the text holds the end of what it did say."""


class Console:
    def __init__(self, connection, log_path, timeout):
        self.connection = connection
        self.log = open(log_path, "w", encoding="utf-8", errors="replace")
        self.timeout = timeout
        self.spawn = fdpexpect.fdspawn(connection.fileno(), encoding="utf-8",
                                       codec_errors="replace", timeout=timeout)
        self.spawn.logfile_read = self.log

    def close(self):
        self.log.close()
        self.connection.close()

    def expect(self, pattern, timeout=None):
        """Wait until `pattern` (a regular expression) is seen; its match object."""
        self._wait(re.compile(pattern, re.M), timeout)
        return self.spawn.match

    def expect_text(self, text, timeout=None):
        """Wait until exactly `text` is seen; what came before it."""
        self._wait(re.compile(re.escape(text)), timeout)
        return self.spawn.before

    def expect_prompt(self, timeout=None):
        """Wait for the hypervisor's prompt; what came before it."""
        return self.expect_text(PROMPT, timeout)

    def press(self, keys):
        self.log.flush()
        os.write(self.connection.fileno(), keys.encode())

    def send(self, line):
        self.press(line + "\n")

    def type(self, line, timeout=None):
        """Send a command and wait for its echo, so that what follows is its answer.

        A message that comes while nothing is typed makes the console show its prompt again: a
        prompt alone would not tell that the command was read.
        """
        self.send(line)
        self.expect(re.escape(line) + r"\r?\n", timeout)

    def run(self, line, timeout=None):
        """Send a command; its reply, which no other line can cut."""
        self.type(line, timeout)
        return self.expect_prompt(timeout)

    def command(self, line, timeout=None):
        """Send a command with --json; its answer, decoded."""
        return json.loads(self.run(line, timeout))

    def drain(self, timeout=None):
        """Wait until the machine has ended; all that it printed since the last wait."""
        try:
            self.spawn.expect(pexpect.EOF, timeout=timeout or self.timeout)
        except ConnectionError:
            pass
        except pexpect.TIMEOUT:
            raise ConsoleError("the machine does not end") from None
        finally:
            self.log.flush()
        return self.spawn.before

    def settle(self):
        """Read until the machine has been quiet for a moment."""
        try:
            while True:
                self.spawn.read_nonblocking(4096, timeout=QUIET_SECONDS)
        except pexpect.TIMEOUT:
            self.log.flush()

    def position(self):
        """A mark in what has been printed, for guest_lines."""
        self.log.flush()
        return os.path.getsize(self.log.name)

    def guest_lines(self, name, since=0):
        """What the guest printed after the mark, line by line, without its name."""
        self.log.flush()
        with open(self.log.name, "rb") as log:
            log.seek(since)
            text = log.read().decode(errors="replace")
        start = f"[{name}] "
        return [line[line.index(start) + len(start):].rstrip() for line in text.splitlines()
                if start in line]

    def _wait(self, pattern, timeout):
        try:
            self.spawn.expect(pattern, timeout=timeout or self.timeout)
        except (pexpect.EOF, pexpect.TIMEOUT, ConnectionError) as missing:
            kind = "fell silent" if isinstance(missing, pexpect.TIMEOUT) else "ended"
            tail = "\n".join((self.spawn.before or "").splitlines()[-40:])
            raise ConsoleError(f"the machine {kind} before {pattern.pattern!r}; its last words:\n"
                               f"{tail}") from None
        finally:
            self.log.flush()
