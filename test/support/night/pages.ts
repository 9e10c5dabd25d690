import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import type { FiringAlert } from './prometheus.ts';

const ROUTES = new URL('../../../deploy/prometheus/alertmanager.yml', import.meta.url);

const routes = z.object({
  route: z.object({
    routes: z.tuple([
      z.object({ receiver: z.literal('page'), group_wait: z.string().regex(/^\d+s$/) }),
    ]),
  }),
  inhibit_rules: z.array(
    z.strictObject({
      source_matchers: z.array(z.string()),
      target_matchers: z.array(z.string()),
      equal: z.array(z.string()).default([]),
    }),
  ),
});
const { route, inhibit_rules: rules } = routes.parse(parse(readFileSync(ROUTES, 'utf8')));

/** How long a page waits for others that come with it, and for what inhibits it. */
export const GROUP_WAIT_MS = Number.parseInt(route.routes[0].group_wait, 10) * 1_000;

type Labels = Readonly<Record<string, string>>;

/** The alerts that Alertmanager would send, by the routes of `deploy/prometheus`: those that no other one inhibits. */
export function uninhibited(alerts: readonly FiringAlert[]): readonly FiringAlert[] {
  return alerts.filter(
    (target) =>
      !rules.some(
        ({ source_matchers: sources, target_matchers: targets, equal }) =>
          matches(target.labels, targets) &&
          alerts.some(
            ({ labels }) =>
              matches(labels, sources) &&
              // An alert that matches both sides inhibits neither itself nor its like.
              !matches(labels, targets) &&
              equal.every((name) => labels[name] === target.labels[name]),
          ),
      ),
  );
}

function matches(labels: Labels, matchers: readonly string[]): boolean {
  return matchers.every((matcher) => {
    const [, name = '', operator, value = ''] = /^(\w+)(=~|!=|=)"(.*)"$/.exec(matcher) ?? [];
    const label = labels[name] ?? '';
    if (operator === '=~') return new RegExp(`^(?:${value})$`).test(label);
    if (operator === undefined) throw new Error(`no matcher: ${matcher}`);
    return (label === value) === (operator === '=');
  });
}
