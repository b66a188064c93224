type Env = Readonly<Record<string, string | undefined>>;

/** Secrets of this program. On Windows, names have any case. */
const ownSecrets = /^(?:CAT_API_KEY|CAT_WEBHOOK_SECRET|CAT_NOTIFY)$/i;

/** The variables of a user's session, which hold no secret: settings, screen, keychain, language. */
const ofSession: ReadonlySet<string> = new Set(
  [
    "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TMP TEMP LD_LIBRARY_PATH",
    "TERM COLORTERM BROWSER DISPLAY WAYLAND_DISPLAY XAUTHORITY DBUS_SESSION_BUS_ADDRESS SESSION_MANAGER",
    "DESKTOP_SESSION DESKTOP_STARTUP_ID",
    "WSLENV WSL_DISTRO_NAME WSL_INTEROP __CF_USER_TEXT_ENCODING",
    "PATHEXT COMSPEC OS SYSTEMROOT SYSTEMDRIVE WINDIR APPDATA LOCALAPPDATA ALLUSERSPROFILE PROGRAMDATA PUBLIC",
    "PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432 COMMONPROGRAMFILES USERPROFILE USERNAME USERDOMAIN",
    "HOMEDRIVE HOMEPATH COMPUTERNAME SESSIONNAME NUMBER_OF_PROCESSORS",
  ].flatMap((names) => names.split(" ")),
);
/** The same, by the beginnings of their names. */
const beginningsOfSession = "LC_ XDG_ GNOME_ KDE_ GDK_ GTK_ QT_ MOZ_ LIBGL_ MESA_ PROCESSOR_".split(" ");

/** On Windows, names have any case. */
function isOfSession(name: string): boolean {
  const upper = name.toUpperCase();
  if (ofSession.has(upper)) return true;
  return /^\w+$/.test(name) && beginningsOfSession.some((beginning) => upper.startsWith(beginning));
}

/**
 * The environment of a program that this one starts. A program of the `session`, such as a browser, gets only
 * what it needs of it. A `command` is of the user, who may have set anything for it: it gets all but the
 * secrets of this program, and `given`.
 */
export function childEnvironment(
  env: Env,
  kind: "session" | "command",
  given: Env = {},
): Record<string, string | undefined> {
  const isKept = (name: string) => (kind === "session" ? isOfSession(name) : !ownSecrets.test(name));
  return { ...Object.fromEntries(Object.entries(env).filter(([name]) => isKept(name))), ...given };
}
