import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { scrape } from '../end-to-end/operations/scraped.ts';
import { startTestApp } from '../support/app.ts';
import { describeWithPromtool } from '../support/describe-with.ts';
import { eventually } from '../support/eventually.ts';
import { inFull } from '../support/in-full.ts';
import { ownFolder } from '../support/own-folder.ts';
import { missingFrom, namedSeries } from './named-series.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = join(root, 'deploy', 'prometheus');
const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8');

const rules = read('deploy', 'prometheus', 'alerts.yml');
/** The tests of the rules, and how often a short run evaluates: most of their time goes by the evaluations. */
const RULE_TESTS = { 'alerts.test.yml': '30s', 'alerts-of-hours.test.yml': '5m' };
const ruleTests = Object.entries(RULE_TESTS).map(
  ([name, every]) => [name, read('deploy', 'prometheus', name), every] as const,
);
const dashboard = JSON.parse(read('deploy', 'grafana', 'trading-graph.json')) as Dashboard;
const panels = dashboard.panels.flatMap((panel) => [panel, ...(panel.panels ?? [])]);
const annotations = dashboard.annotations.list.map(({ expr }) => expr);
const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const runbook = read('docs', 'runbook.md');
const routes = read('deploy', 'prometheus', 'alertmanager.yml');
const alerts = rules.split(/^ {6}- alert: /m).slice(1);
const nameOf = (alert: string) => /^\w+/.exec(alert)?.[0] ?? '';

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly collapsed?: boolean;
  readonly links?: readonly { readonly url: string }[];
  readonly fieldConfig?: {
    readonly defaults: { readonly thresholds?: { readonly steps: readonly Step[] } };
  };
  readonly targets?: readonly { readonly expr: string }[];
  /** Of a row that is collapsed. */
  readonly panels?: readonly Panel[];
}

interface Step {
  readonly color: string;
  readonly value: number | null;
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
}

/** Live series, and those that come with a Redis or with some traffic alone. */
let series: string[];
beforeAll(async () => {
  await using app = await startTestApp();
  const token = await app.signIn();
  await app.query('{ catalog { id } }', { token });
  // Those about garbage collection are there once there was one, which scrapes bring about.
  const scraped = await eventually(async () => {
    const { series } = await scrape(app);
    expect(series.has('trading_graph_catalog_left_seconds')).toBe(true);
    expect([...series.keys()].some((one) => one.startsWith('nodejs_gc_'))).toBe(true);
    return series;
  });
  series = [
    ...scraped.keys(),
    'trading_graph_redis_up',
    'trading_graph_gateway_clock_skew_seconds',
  ];
});

test('every series that the rules name is measured', () => {
  const named = namedSeries(rules.replaceAll(/^\s*#.*$/gm, ''));
  expect(named.length).toBeGreaterThan(30);
  expect(named.map((one) => missingFrom(series, one)).filter(Boolean)).toEqual([]);
});

describe('the dashboard', () => {
  const [overview, ...beneath] = dashboard.panels;
  const rows = beneath.filter(({ type }) => type === 'row');
  const stats = beneath.filter(({ type }) => type !== 'row');

  test('opens with eight figures in one row, and all other rows collapsed', () => {
    expect(overview).toMatchObject({ type: 'row', collapsed: false });
    expect(stats.map(({ type }) => type)).toEqual(Array(8).fill('stat'));
    expect(rows.length).toBeGreaterThan(6);
    expect(rows.filter(({ collapsed }) => collapsed !== true)).toEqual([]);
  });

  test('shows what pages, with the thresholds of the alert and a link to its entry', () => {
    const linked = stats.map(({ title, links = [], fieldConfig }) => {
      const [, entry] = /^\$\{docs:raw\}\/runbook#(\w+)$/.exec(links[0]?.url ?? '') ?? [];
      const alert = alerts.find((text) => nameOf(text).toLowerCase() === entry) ?? '';
      const [, ...steps] = fieldConfig?.defaults.thresholds?.steps ?? [];
      expect(steps.at(-1)?.color, title).toBe('red');
      for (const { value } of steps) expect(numbersOf(alert), title).toContain(value);
      return entry;
    });
    // The front door's series are those of a probe, which knows no replica.
    const pages = alerts
      .filter(
        (text) => text.includes('severity: page') && !text.startsWith('TradingGraphFrontDoor'),
      )
      .map((text) => nameOf(text).toLowerCase());
    expect(linked.sort()).toEqual(pages.sort());
  });

  test('explains each panel, under a title that needs no row above it', () => {
    const explained = panels.filter(({ type }) => type !== 'row');
    for (const { title, description = '' } of explained) {
      expect(title.split(' ').length, title).toBeGreaterThan(1);
      expect(description.length, title).toBeGreaterThan(20);
    }
    expect(new Set(explained.map(({ title }) => title)).size).toBe(explained.length);
  });

  test('names only series that are measured, on every panel', () => {
    for (const { type, targets, title } of panels) {
      if (type !== 'row') expect(targets?.length, title).toBeGreaterThan(0);
    }
    for (const expression of [...expressions, ...annotations]) {
      const named = namedSeries(expression);
      expect(named.length, expression).toBeGreaterThan(0);
      expect(named.map((one) => missingFrom(series, one)).filter(Boolean)).toEqual([]);
      // Without it a panel would show other services' processes too.
      expect(expression.match(/\$instance/g)?.length, expression).toBe(named.length);
    }
  });

  test('shows every metric of docs/metrics.md', () => {
    const listed = [...read('docs', 'metrics.md').matchAll(/^\| `(trading_graph_\w+)[`{]/gm)];
    expect(listed.length).toBeGreaterThan(40);
    const shown = new Set(
      expressions.flatMap(namedSeries).map(({ metric }) => metric.replace(/_bucket$/, '')),
    );
    expect(listed.map(([, name = '']) => name).filter((name) => !shown.has(name))).toEqual([]);
  });
});

describe.each(alerts.map((text) => [nameOf(text), text] as const))('%s', (name, text) => {
  test('leads to its entry in the runbook', () => {
    const [, url] = /runbook_url: (\S+)/.exec(text) ?? [];
    expect(url).toBe(`docs/runbook.md#${name.toLowerCase()}`);
    const [, entry = ''] = runbook.split(`\n### ${name}\n`);
    const [body = ''] = entry.split(/\n##/);
    for (const part of ['Meaning', 'Users see', 'Look at', 'Do', 'Do not', 'Rehearse']) {
      expect(body).toMatch(new RegExp(`^- \\*\\*${part}:\\*\\* \\S`, 'm'));
    }
  });

  test('says how urgent it is, and fires in a test of the rules', () => {
    expect(text).toMatch(/severity: (page|ticket) /);
    expect(ruleTests.join()).toContain(`alertname="${name}"`);
  });
});

test('at most 22 alerts are for people, and at most nine wake them', () => {
  const pages = alerts.filter((text) => text.includes('severity: page'));
  expect(alerts.length).toBeLessThanOrEqual(22);
  expect(pages.length).toBeLessThanOrEqual(9);
});

test('what one alert inhibits are alerts that there are', () => {
  const named = [...routes.matchAll(/TradingGraph(?:\(([^)]*)\)|(\w+))/g)].flatMap(
    ([, several, one = '']) => (several?.split('|') ?? [one]).map((name) => `TradingGraph${name}`),
  );
  const names = alerts.map(nameOf);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !names.includes(name))).toEqual([]);
});

test('the runbook has no entry for an alert that is gone', () => {
  const entries = [...runbook.matchAll(/^### (TradingGraph\w+)$/gm)].map(([, name = '']) => name);
  const names = new Set(alerts.map(nameOf));
  expect(entries.filter((name) => !names.has(name))).toEqual([]);
});

test('the runbook names only metrics that are measured', () => {
  const named = [...runbook.matchAll(/`((?:trading_graph|process|nodejs)_[^`]*)`/g)];
  const missing = named
    .flatMap(([, text = '']) => namedSeries(text))
    .map(({ metric, labels }) => {
      const isHistogram = series.some((one) => one.startsWith(`${metric}_count`));
      return missingFrom(series, { metric: isHistogram ? `${metric}_count` : metric, labels });
    });
  expect(missing.length).toBeGreaterThan(20);
  expect(missing.filter(Boolean)).toEqual([]);
});

describeWithPromtool('the rules', (promtool) => {
  const copies = ownFolder();
  const run = (args: string[], cwd = folder) =>
    spawnSync(promtool, args, {
      cwd,
      encoding: 'utf8',
      timeout: 280_000,
      // A sixth of its time was the collection of garbage.
      env: { ...process.env, GOGC: '400' },
    });

  test('are well-formed, as is the example of a scrape', () => {
    const { status, stderr } = run(['check', 'config', 'prometheus.yml']);
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });

  test('read each expression of the dashboard, and mark what is deployed, once', () => {
    const marks = (at: string, builds: readonly string[]) => ({
      expr: inGrafana(annotations[0] ?? ''),
      eval_time: at,
      exp_samples: builds.map((version) => ({ labels: `{version="${version}"}`, value: 1 })),
    });
    const build = (instance: string, version: string, values: string) => ({
      series: `trading_graph_build_info{job="trading-graph",instance="${instance}",version="${version}"}`,
      values,
    });
    const reads = expressions.map((expr) => ({ expr: inGrafana(expr), eval_time: '1h' }));
    // b follows a by a minute, as replicas do, and starts anew in the sixteenth.
    const history = {
      interval: '1m',
      input_series: [
        build('a', '1', '1x9 stale'),
        build('a', '2', '_x10 1x20'),
        build('b', '1', '1x10 stale'),
        build('b', '2', '_x11 1x3 stale 1x10'),
      ],
      promql_expr_test: [marks('5m', []), marks('10m', ['2']), marks('11m', []), marks('16m', [])],
    };
    const tests = [{ promql_expr_test: reads }, history];
    writeFileSync(join(copies.path, 'dashboard.test.yml'), JSON.stringify({ tests }));
    const { status, stdout, stderr } = run(['test', 'rules', 'dashboard.test.yml'], copies.path);
    expect(stdout + stderr).toContain('SUCCESS');
    expect(status).toBe(0);
  });

  test('fire, clear and stay quiet as their tests say', () => {
    copyFileSync(join(folder, 'alerts.yml'), join(copies.path, 'alerts.yml'));
    for (const [name, text, every] of ruleTests) {
      const interval = /^evaluation_interval: .*$/m;
      expect(text).toMatch(interval);
      const short = text.replace(interval, `evaluation_interval: ${every}`);
      writeFileSync(join(copies.path, name), inFull(text, short));
    }
    const { status, stdout, stderr } = run(
      ['test', 'rules', ...Object.keys(RULE_TESTS)],
      copies.path,
    );
    expect(stdout + stderr).toContain('SUCCESS');
    expect(status).toBe(0);
    // Ten seconds of a core alone, and 25 in full.
  }, 300_000);
});

/** The numbers in a rule's expression, with its products such as `14.4 * 0.001`. */
function numbersOf(text: string): number[] {
  const [expression = ''] = text.split('labels:');
  const products = [...expression.matchAll(/([\d.]+) \* ([\d.]+)/g)];
  return [
    ...products.map(([, one, other]) => Number((Number(one) * Number(other)).toPrecision(3))),
    ...[...expression.matchAll(/(?<=[<>=] )[\d.]+/g)].map(([number]) => Number(number)),
  ];
}

/** An expression as Grafana sends it. */
function inGrafana(expression: string): string {
  return expression
    .replaceAll(/\$(?:job|instance)/g, '.*')
    .replaceAll('$__rate_interval', '1m')
    .replaceAll('$__range', '3h');
}
