import type { z } from 'zod';
import { contradictions } from './config/contradictions.ts';
import { formerSettings } from './config/former-settings.ts';
import type { Setting } from './config/setting.ts';
import { SETTINGS } from './config/settings.ts';
import { shown } from './config/shown.ts';
import { camelCase, type Values } from './config/values.ts';

type Settled = 'nodeEnv' | 'sandbox' | 'orderStore' | 'introspection' | 'graphiql' | 'corsOrigins';

export interface Config extends Omit<Values, Settled> {
  readonly production: boolean;
  /** The embedded sandbox gateway runs, since no gateway is named. */
  readonly sandbox: boolean;
  /** A file, or the word `memory`. */
  readonly orderStore: string;
  readonly introspection: boolean;
  readonly graphiql: boolean;
  readonly corsOrigins: { readonly origins: readonly string[]; readonly anyLocalhost: boolean };
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Everything that is wrong with the environment, one line for each problem. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Throws a ConfigError that lists all problems at once. */
export function readConfig(env: Environment): Config {
  const problems: string[] = [];
  const faulty = new Set<string>();
  const entries = Object.entries<Setting<unknown>>(SETTINGS).map(([name, setting]) => {
    // Compose files and CI write an empty text where they mean nothing.
    const given = env[name] || undefined;
    if (given === undefined) return [camelCase(name), setting.fallback];
    const result = setting.kind.schema.safeParse(given);
    if (result.success) return [camelCase(name), result.data];
    problems.push(describe(name, given, setting, result.error.issues));
    faulty.add(name);
    return [camelCase(name), setting.fallback];
  });
  const values = Object.fromEntries(entries) as Values;
  problems.push(...formerSettings(env));
  for (const { about, problem } of contradictions(values)) {
    // A variable that is wrong by itself has its line already.
    if (!about.some((name) => faulty.has(name))) problems.push(problem);
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return settle(values);
}

function settle({ nodeEnv, sandbox: _, ...values }: Values): Config {
  const sandbox = values.gatewayUrl === null;
  return {
    ...values,
    production: nodeEnv === 'production',
    sandbox,
    orderStore: values.orderStore ?? (sandbox ? 'memory' : 'data/orders.db'),
    introspection: values.introspection ?? sandbox,
    graphiql: values.graphiql ?? sandbox,
    corsOrigins: {
      origins: values.corsOrigins ?? [],
      anyLocalhost: sandbox && values.corsOrigins === null,
    },
  };
}

function describe(
  name: string,
  given: string,
  { kind, isSecret }: Setting<unknown>,
  issues: readonly z.core.$ZodIssue[],
): string {
  const value = isSecret ? ' (value not shown)' : `=${shown(given)}`;
  const details = issues.flatMap((issue) =>
    issue.code === 'custom' && issue.params?.telling ? [issue.message] : [],
  );
  const detail = details.length > 0 ? ` (${details.join(', ')})` : '';
  return `${name}${value}: must be ${kind.allowed}${detail}`;
}
