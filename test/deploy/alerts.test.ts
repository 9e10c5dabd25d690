import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { getAllTickers, INSTRUMENT } from '../../src/gateway/operations/get-all-tickers.ts';
import { SESSION } from '../../src/gateway/operations/get-session.ts';
import { POSITION } from '../../src/gateway/operations/holdings.ts';
import { scrape } from '../end-to-end/operations/scraped.ts';
import { startTestApp } from '../support/app.ts';
import { describeWithPromtool } from '../support/describe-with.ts';
import { eventually } from '../support/eventually.ts';
import { inFull, isLong } from '../support/in-full.ts';
import { ownFolder } from '../support/own-folder.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = join(root, 'deploy', 'prometheus');
const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8');

const rules = read('deploy', 'prometheus', 'alerts.yml');
/** Tests of the rules, in which each alert fires. A short run evaluates them at longer intervals, to save half of the time. */
const RULE_TESTS = 'alerts.test.yml';
const ruleTests = read('deploy', 'prometheus', RULE_TESTS);
const dashboard = JSON.parse(read('deploy', 'grafana', 'trading-graph.json')) as Dashboard;
const panels = dashboard.panels.flatMap((panel) => [panel, ...(panel.panels ?? [])]);
const annotations = dashboard.annotations.list.map(({ expr }) => expr);
const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const runbook = read('docs', 'on-call.md');
const routes = read('deploy', 'prometheus', 'alertmanager.yml');
const allAlerts = rules.split(/^ {6}- alert: /m).slice(1);
/** The alerts that page or open a ticket. */
const alerts = allAlerts.filter((text) => !text.includes('severity: none'));
const hasFigures = ({ type }: Panel) => type !== 'row';
const nameOf = (alert: string) => /^\w+/.exec(alert)?.[0] ?? '';

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly links?: readonly { readonly url: string }[];
  readonly targets?: readonly { readonly expr: string }[];
  /** The panels of a collapsed row. */
  readonly panels?: readonly Panel[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
}

/** The scraped series, and series that exist only with Redis or traffic. */
let series: string[];
let scrapedText: string;
beforeAll(async () => {
  await using app = await startTestApp();
  const token = await app.signIn();
  await app.query('{ catalog { id } }', { token });
  // The series of garbage collection exist after the first collection. Repeated scrapes cause it.
  const scraped = await eventually(async () => {
    const { series, text } = await scrape(app);
    expect(series.has('trading_graph_catalog_left_seconds')).toBe(true);
    expect([...series.keys()].some((name) => name.startsWith('nodejs_gc_'))).toBe(true);
    return { series, text };
  });
  scrapedText = scraped.text;
  series = [
    ...scraped.series.keys(),
    'trading_graph_gateway_clock_skew_seconds',
    'trading_graph_gateway_missing_fields{operation="",field=""}',
  ];
});

test('every series that the rules name is measured', () => {
  const withoutComments = rules.replaceAll(/^\s*#.*$/gm, '');
  const named = namedSeries(withoutComments);
  expect(named.length).toBeGreaterThan(30);
  expect(named.map((each) => missingFrom(series, each)).filter(Boolean)).toEqual([]);
});

test('the fields whose loss pages are named as in the tables', () => {
  const selector = /missing_fields:new\{(?:operation="(\w+)", )?field=~?"(?:\(.*\)\?\()?([\w|]+)/g;
  const traded = [...rules.matchAll(selector)].map(([, operation, names = '']) => {
    const tables = operation === getAllTickers.name ? [INSTRUMENT] : [POSITION, SESSION];
    const fields = tables.flatMap((table) => Object.keys(table.fields));
    return names.split('|').map((name) => ({ name, isField: fields.includes(name) }));
  });
  expect(traded).toHaveLength(2);
  expect(traded.flat().filter(({ isField }) => !isField)).toEqual([]);
});

describe('the dashboard', () => {
  test('shows the paging alerts first, each with a link to its entry in the runbook', () => {
    const linked = dashboard.panels
      .filter(({ type }) => type === 'stat')
      .map(({ links }) => /^\$\{docs:raw\}\/on-call\.md#(\w+)$/.exec(links?.[0]?.url ?? '')?.[1]);
    const pages = alerts
      .filter((text) => /severity: page/.test(text))
      .map((text) => nameOf(text).toLowerCase());
    expect(linked.sort()).toEqual(pages.sort());
  });

  test('names only series that are measured, on every panel', () => {
    for (const { targets, title } of panels.filter(hasFigures)) {
      expect(targets?.length, title).toBeGreaterThan(0);
    }
    // One series comes from a probe of the front proxy, and not from a replica.
    const ofReplicas = expressions.filter((each) => !each.includes('probe_success'));
    expect(ofReplicas).toHaveLength(expressions.length - 1);
    for (const expression of [...ofReplicas, ...annotations]) {
      const named = namedSeries(expression);
      expect(named.length, expression).toBeGreaterThan(0);
      expect(named.map((each) => missingFrom(series, each)).filter(Boolean)).toEqual([]);
      // Without `$instance` a panel would show other services' processes too.
      expect(expression.match(/\$instance/g)?.length, expression).toBe(named.length);
    }
  });

  test('shows every metric of docs/metrics.md', () => {
    const listed = [...read('docs', 'metrics.md').matchAll(/^- `(trading_graph_\w+)[`{]/gm)];
    expect(listed.length).toBeGreaterThan(40);
    const shown = new Set(
      expressions.flatMap(namedSeries).map(({ metric }) => metric.replace(/_bucket$/, '')),
    );
    expect(listed.map(([, name = '']) => name).filter((name) => !shown.has(name))).toEqual([]);
  });
});

describe.each(alerts.map((text) => [nameOf(text), text] as const))('%s', (name, text) => {
  test('links to its entry in the runbook, has a severity, and fires in a test of the rules', () => {
    const [, url] = /runbook_url: (\S+)/.exec(text) ?? [];
    expect(url).toBe(`docs/on-call.md#${name.toLowerCase()}`);
    const [, entry = ''] = runbook.split(`\n### ${name}\n`);
    const [body = ''] = entry.split(/\n##/);
    expect(body).toMatch(/^\n(?:[A-Z].*\n\n)?- /);
    for (const part of ['See', 'Do', 'Never']) {
      expect(body).toMatch(new RegExp(`^- \\*\\*${part}:\\*\\* \\S`, 'm'));
    }
    expect(text).toMatch(/severity: (page|ticket) /);
    expect(ruleTests).toContain(`alertname="${name}"`);
  });
});

test('alerts inhibit only existing alerts', () => {
  // Alerts that other services send to the same Alertmanager must not be inhibited.
  const targets = routes.match(/target_matchers: .*/g) ?? [];
  expect(targets.filter((each) => !/alertname=~?"TradingGraph/.test(each))).toEqual([]);
  // An operator has to settle each unknown order, for any cause.
  expect(targets.filter((each) => each.includes('OrderUnknown'))).toEqual([]);
  // Matches `TradingGraph(Orders|StoreAway)` and `TradingGraphOrders`.
  const named = [...routes.matchAll(/TradingGraph(?:\(([^)]*)\)|(\w+))/g)].flatMap(
    ([, several, single = '']) =>
      (several?.split('|') ?? [single]).map((name) => `TradingGraph${name}`),
  );
  const names = allAlerts.map(nameOf);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !names.includes(name))).toEqual([]);
});

test('the runbook has entries only for existing alerts, and names only measured metrics', () => {
  const entries = [...runbook.matchAll(/^### (TradingGraph\w+)$/gm)].map(([, name = '']) => name);
  expect(entries.sort()).toEqual([...new Set(alerts.map(nameOf))].sort());
  const named = [...runbook.matchAll(/`((?:trading_graph|process|nodejs)_[^`]*)`/g)];
  const missing = named
    .flatMap(([, text = '']) => namedSeries(text))
    .map(({ metric, labels }) => {
      // A histogram has no series of its own name.
      const isHistogram = series.some((each) => each.startsWith(`${metric}_count`));
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
      input: scrapedText,
      encoding: 'utf8',
      timeout: 280_000,
      // With the default of 100, garbage collection takes a sixth of the time.
      env: { ...process.env, GOGC: '400' },
    });

  // The check of the configuration includes the rules.
  test.each([[['config', 'prometheus.yml']], [['metrics']]])(
    'and the scraped metrics are well-formed: promtool check %s',
    (args) => {
      const { status, stderr } = run(['check', ...args]);
      expect(stderr).toBe('');
      expect(status).toBe(0);
    },
  );

  test('can evaluate each expression of the dashboard', () => {
    const evaluations = [...expressions, ...annotations].map((expr) => ({
      expr: inGrafana(expr),
      eval_time: '1h',
    }));
    const tests = JSON.stringify({ tests: [{ promql_expr_test: evaluations }] });
    writeFileSync(join(copies.path, 'dashboard.test.yml'), tests);
    const { status, stdout, stderr } = run(['test', 'rules', 'dashboard.test.yml'], copies.path);
    expect(stdout + stderr).toContain('SUCCESS');
    expect(status).toBe(0);
  });

  test('fire, clear and stay quiet as in their tests', () => {
    copyFileSync(join(folder, 'alerts.yml'), join(copies.path, 'alerts.yml'));
    const setting = /^evaluation_interval: .*$/m;
    expect(ruleTests).toMatch(setting);
    const short = ruleTests.replace(setting, 'evaluation_interval: 30s');
    writeFileSync(join(copies.path, RULE_TESTS), inFull(ruleTests, short));
    const { status, stdout, stderr } = run(['test', 'rules', RULE_TESTS], copies.path);
    expect(stdout + stderr).toContain('SUCCESS');
    expect(status).toBe(0);
  });

  if (isLong) {
    test('fire, clear and stay quiet over hours', () => {
      const { status, stdout, stderr } = run(['test', 'rules', 'alerts-of-hours.test.yml']);
      expect(stdout + stderr).toContain('SUCCESS');
      expect(status).toBe(0);
    });
  }
});

/** The expression that Grafana sends. */
function inGrafana(expression: string): string {
  return expression
    .replaceAll(/\$(?:job|instance)/g, '.*')
    .replaceAll('$__rate_interval', '1m')
    .replaceAll('$__range', '3h');
}

/** A metric in an expression: its name, and the label values that a scraped series must have. */
interface NamedSeries {
  readonly metric: string;
  readonly labels: readonly { readonly name: string; readonly value: RegExp }[];
}

const METRIC = /(?<![\w:])((?:trading_graph|process|nodejs)_\w+)(?![\w:])(?:\{([^}]*)\})?/g;
const MATCHER = /(\w+)\s*(=~|!=|!~|=)\s*"([^"]*)"/g;
const LABELS_OF_PROMETHEUS = ['job', 'instance'];

/** All series in a PromQL text whose names are those of the service's metrics. */
function namedSeries(text: string): NamedSeries[] {
  return [...text.matchAll(METRIC)].map(([, metric = '', matchers = '']) => ({
    metric,
    labels: [...matchers.matchAll(MATCHER)]
      .filter(([, name = '']) => !LABELS_OF_PROMETHEUS.includes(name))
      .map(([, name = '', operator, value = '']) => ({
        name,
        value: valuePattern(operator, value),
      })),
  }));
}

/** The pattern of the values in a matcher. An excluded value (`!=`, `!~`) that does not exist is misspelt. */
function valuePattern(operator: string | undefined, value: string): RegExp {
  const isLiteral = operator === '=' || operator === '!=';
  const pattern = isLiteral ? value.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&') : value;
  return new RegExp(`^(?:${pattern})$`);
}

/** Returns the metric or the label value that no scraped series has, or null. */
function missingFrom(scraped: Iterable<string>, { metric, labels }: NamedSeries): string | null {
  const ofMetric = [...scraped].filter((each) => each === metric || each.startsWith(`${metric}{`));
  if (ofMetric.length === 0) return metric;
  const missing = labels.find(({ name, value }) => {
    // A missing label gets a value that only a pattern for any value matches.
    const values = ofMetric.map((each) => labelValue(each, name) ?? '\0');
    return !values.some((each) => value.test(each));
  });
  return missing === undefined ? null : `${metric} with ${missing.name} ${missing.value}`;
}

function labelValue(series: string, label: string): string | undefined {
  return new RegExp(`[{,]${label}="([^"]*)"`).exec(series)?.[1];
}
