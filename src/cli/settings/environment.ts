export interface EnvironmentVariable {
  readonly name: string;
  /** A phrase, with its default or its values in parentheses. */
  readonly about: string;
}

export interface VariableGroup {
  readonly title: string;
  readonly variables: readonly EnvironmentVariable[];
}

const variable = (name: string, about: string): EnvironmentVariable => ({ name, about });

/** Every environment variable, for `cat help environment` and the reference; a test compares it. */
export const environment: readonly VariableGroup[] = [
  {
    title: "Settings (a flag wins over its variable, a variable over the profile)",
    variables: [
      variable("CAT_BASE_URL", "URL of the service, without /v1 (flag: --base-url)"),
      variable("CAT_API_KEY", "API key of your organization (default: the key that cat login stored)"),
      variable("CAT_PROFILE", "profile to use (flag: --profile; default: the active profile)"),
      variable(
        "CAT_HOME",
        "full path of the folder of the config file and of the state (default: the folder of the platform)",
      ),
      variable("XDG_CONFIG_HOME", "full path of the folder above it on Linux (default: ~/.config)"),
      variable("HOME", "home folder on Linux and macOS (default: that of the user's entry)"),
      variable("APPDATA", "full path of the folder above it on Windows (default: AppData\\Roaming)"),
      variable("USERPROFILE", "home folder on Windows (default: that of the user's entry)"),
      variable(
        "CAT_INSECURE_HTTP_HOSTS",
        "hosts whose base URL can be http://, separated by commas, e.g. in a container",
      ),
      variable("CAT_NOTIFY", "URL that gets the result of each run, or none (flag: --notify)"),
      variable("CAT_WEBHOOK_SECRET", "signing secret of webhooks, for cat webhooks"),
    ],
  },
  {
    title: "Output",
    variables: [
      variable("NO_COLOR", "no colors, with any value (flag: --no-color)"),
      variable("FORCE_COLOR", "colors without a terminal: 1, 2 or 3; 0 for none"),
      variable("TERM", "dumb: no colors, no progress bar and no interactive view"),
      variable("CAT_ANNOTATIONS", "off: no annotations and no job summary in GitHub Actions"),
      variable("CAT_THUMBNAILS", "off: no pictures in lists on terminals that can show them"),
      variable(
        "LC_ALL",
        "locale, before all others: the separator of --excel, and the character set in cat doctor",
      ),
      variable("LC_NUMERIC", "locale of numbers: the separator of --excel"),
      variable("LC_CTYPE", "locale of characters: the character set in cat doctor"),
      variable("LANG", "locale, after all others"),
    ],
  },
  {
    title: "Network",
    variables: [
      variable("HTTPS_PROXY", "proxy of https:// addresses; https_proxy comes first"),
      variable(
        "HTTP_PROXY",
        "proxy of http:// addresses, and of all without HTTPS_PROXY; http_proxy comes first",
      ),
      variable("NO_PROXY", "hosts that need no proxy, separated by commas; no_proxy comes first"),
      variable("NODE_EXTRA_CA_CERTS", "PEM file with certificates of your own authority"),
    ],
  },
  {
    title: "Buckets (cat export sync s3://BUCKET/PREFIX)",
    variables: [
      variable("AWS_ENDPOINT_URL_S3", "address of the store (flag: --endpoint)"),
      variable("AWS_ENDPOINT_URL", "the same, for all services"),
      variable("AWS_REGION", "region of the bucket (flag: --region)"),
      variable("AWS_DEFAULT_REGION", "the same, without AWS_REGION"),
      variable(
        "AWS_ACCESS_KEY_ID",
        "access key of the store (default: the profiles and roles of the AWS SDK)",
      ),
      variable("AWS_SECRET_ACCESS_KEY", "its secret"),
      variable("AWS_SESSION_TOKEN", "its session token, for temporary credentials"),
    ],
  },
  {
    title: "Set for other programs",
    variables: [
      variable(
        "CAT_WEBHOOK_URL",
        "URL on which cat webhooks listen receives events, for the command that it runs",
      ),
      variable("CAT_HANDED_TO", "programs named cat that were tried already, for another cat on PATH"),
    ],
  },
  {
    title: "Read from the system",
    variables: [
      variable("GITHUB_ACTIONS", "true: failed rows become annotations, and are in the job summary"),
      variable("GITHUB_STEP_SUMMARY", "file of the job summary, which is appended to"),
      variable("GITHUB_WORKSPACE", "folder of the repository, from which annotations and reports name files"),
      variable("CI_PROJECT_DIR", "the same, in GitLab CI"),
      variable("PATH", "folders in which the system's cat is searched"),
      variable("HOME", "home folder, with the folders of the platform"),
      variable("USERPROFILE", "the same, on Windows"),
      variable("XDG_CACHE_HOME", "folder of caches, with the compiled code (default: .cache in HOME)"),
      variable("LOCALAPPDATA", "the same, on Windows (default: AppData\\Local in USERPROFILE)"),
      variable("NODE_DISABLE_COMPILE_CACHE", "1: keep no compiled code"),
      variable("NODE_OPTIONS", "flags of Node; not passed on to the process that reads the keychain"),
      variable(
        "NODE_COMPILE_CACHE",
        "folder in which Node itself keeps compiled code: it runs what others write there; not passed on to that process",
      ),
      variable("TERM_PROGRAM", "the terminal, to find out whether it shows pictures"),
      variable("LC_TERMINAL", "the same, over SSH"),
      variable("KITTY_WINDOW_ID", "the same, of kitty"),
      variable("KONSOLE_VERSION", "the same, of Konsole"),
      variable("TMUX", "set in tmux, which shows no pictures"),
      variable("STY", "set in screen, which shows no pictures"),
    ],
  },
];
