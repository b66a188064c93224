/** The values of the global flags. */
export interface GlobalOptions {
  profile: string | undefined;
  baseUrl: string | undefined;
  mock: boolean;
  json: boolean;
  quiet: boolean;
  /** False with `--no-progress`. */
  progress: boolean;
  /** False with `--no-color`. */
  color: boolean;
  /** False with `--no-input`. */
  input: boolean;
  yes: boolean;
  verbose: boolean;
}

/** The values without any flag. */
export const noGlobals = (): GlobalOptions => ({
  profile: undefined,
  baseUrl: undefined,
  mock: false,
  json: false,
  quiet: false,
  progress: true,
  color: true,
  input: true,
  yes: false,
  verbose: false,
});
