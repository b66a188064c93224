/** What breaks a rule: its figure by its name. Each rule has its own figure, e.g. lines, or the number of files. */
export type Figures = Readonly<Record<string, number>>;

/** Offenders by rule. */
export type Offenders<Rule extends string = string> = Readonly<Record<Rule, Figures>>;

/** Names that may break a rule for good. */
export interface Exceptions {
  readonly rule: string;
  readonly names: readonly string[];
  readonly reason: string;
}

const entries = (offenders: Offenders) =>
  Object.entries(offenders).flatMap(([rule, figures]) =>
    Object.entries(figures).map(([name, figure]) => ({ rule, name, figure })),
  );

/**
 * Compares what breaks a rule now with the list of what did before, which may only shrink: nothing new, nothing worse, and
 * nothing in the list, or among the exceptions, that breaks no rule.
 */
export function compareOffenders(
  now: Offenders,
  listed: Offenders,
  exceptions: readonly Exceptions[],
): string[] {
  const excepted = (rule: string, name: string) =>
    exceptions.some((one) => one.rule === rule && one.names.includes(name));
  const worse = entries(now)
    .filter(({ rule, name, figure }) => !excepted(rule, name) && figure > (listed[rule]?.[name] ?? 0))
    .map(({ rule, name, figure }) => {
      const before = listed[rule]?.[name];
      return `${rule}: ${name} (${figure}${before === undefined ? "" : `, was ${before}`})`;
    });
  const fixed = entries(listed)
    .filter(({ rule, name }) => now[rule]?.[name] === undefined || excepted(rule, name))
    .map(({ rule, name }) => `${rule}: ${name} is listed, and fixed: npm run rules -- --write`);
  const idle = exceptions.flatMap(({ rule, names }) =>
    names
      .filter((name) => now[rule]?.[name] === undefined)
      .map((name) => `${rule}: ${name} is an exception, and needs none`),
  );
  return [...worse, ...fixed, ...idle];
}

/** The list without what is fixed, and with lower figures where they are; nothing is added. */
export function shrunk(now: Offenders, listed: Offenders, exceptions: readonly Exceptions[]): Offenders {
  const isExcepted = (rule: string, name: string) =>
    exceptions.some((one) => one.rule === rule && one.names.includes(name));
  return Object.fromEntries(
    Object.entries(listed).map(([rule, figures]) => [
      rule,
      Object.fromEntries(
        Object.entries(figures)
          .filter(([name]) => now[rule]?.[name] !== undefined && !isExcepted(rule, name))
          .map(([name, figure]) => [name, Math.min(figure, now[rule]![name]!)]),
      ),
    ]),
  );
}
