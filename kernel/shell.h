/*
 * The shell as the console drives it. All on CPU 0.
 */
#ifndef KERNEL_SHELL_H
#define KERNEL_SHELL_H

/* Run the command in `line`; the reply ends now or, for a long one, later by itself. */
void shell_execute(const char *line);

/* There is room for more of a reply that waited for it. */
void shell_resume(void);

#endif
