# Runs a command on a terminal of its own, types into it, and closes it once a text was shown. Prints how the parent sees its
# end (`exit N` or `signal N`), then what was shown.
#   closing-terminal.py session|no-session TEXT SIGNAL KEYS COMMAND [ARG...]
# session: the command leads the session of the terminal, and gets SIGHUP. SIGNAL is sent after the closing; 0 for none.
import fcntl, os, pty, select, sys, termios, time

kind, text, signal, keys, *command = sys.argv[1:]
ours, its = pty.openpty()
child = os.fork()
if child == 0:
    os.setsid()
    if kind == "session":
        fcntl.ioctl(its, termios.TIOCSCTTY, 0)
    for descriptor in (0, 1, 2):
        os.dup2(its, descriptor)
    os.closerange(3, 64)
    os.execvp(command[0], command)
os.close(its)
os.write(ours, keys.encode())
shown = b""
end = time.monotonic() + 60
while text.encode() not in shown and time.monotonic() < end:
    if select.select([ours], [], [], 0.1)[0]:
        try:
            shown += os.read(ours, 65536)
        except OSError:
            break
os.close(ours)
if int(signal) > 0:
    time.sleep(0.2)
    os.kill(child, int(signal))
_, status = os.waitpid(child, 0)
print(f"exit {os.WEXITSTATUS(status)}" if os.WIFEXITED(status) else f"signal {os.WTERMSIG(status)}")
sys.stdout.buffer.write(shown)
