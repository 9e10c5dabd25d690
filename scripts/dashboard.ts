import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const PANELS = join(import.meta.dirname, '..', 'deploy', 'grafana', 'panels.txt');
const SOURCE = { type: 'prometheus', uid: `\${datasource}` };
const DOCS = 'https://forge.example.com/trading-graph/docs';
const DEPLOYED =
  'count by (version, revision) (trading_graph_build_info{$S}) unless count by (version, revision) (last_over_time(trading_graph_build_info{$S}[1h] offset 1m))';

interface Panel {
  readonly kind: string;
  readonly title: string;
  readonly unit: string;
  /** Of a figure: the value from which it is red, and the alert that pages for it. */
  readonly red: string;
  readonly alert: string;
  readonly targets: object[];
}

/** Grafana's dashboard as JSON, with one line for each panel. */
export function dashboard(): string {
  const panels = readPanels();
  const figures = panels.filter(({ kind }) => kind === 'figure').map(figurePanel);
  const graphs = panels.filter(({ kind }) => kind === 'graph').map(graphPanel(figures.length));
  const lines = [...figures, ...graphs].map((panel, at) =>
    JSON.stringify({ id: at + 1, datasource: SOURCE, ...panel }),
  );
  return `${JSON.stringify(frame()).slice(0, -1)},"panels":[\n${lines.join(',\n')}\n]}\n`;
}

function readPanels(): Panel[] {
  const panels: Panel[] = [];
  for (const line of readFileSync(PANELS, 'utf8').split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    if (line.startsWith('  ')) {
      const [expr = '', legendFormat] = line.trim().split(' => ');
      const targets = panels.at(-1)?.targets ?? [];
      const refId = String.fromCharCode('A'.charCodeAt(0) + targets.length);
      targets.push({ refId, datasource: SOURCE, expr: filled(expr), legendFormat });
    } else {
      const [kind = '', title = '', unit = '', red = '', alert = ''] = line.split(' | ');
      panels.push({ kind, title, unit, red, alert, targets: [] });
    }
  }
  return panels;
}

function filled(expr: string): string {
  return expr
    .replaceAll('$S', 'job=~"$job",instance=~"$instance"')
    .replaceAll('$R', '[$__rate_interval]');
}

function figurePanel({ title, unit, red, alert, targets }: Panel, at: number) {
  const isFloor = red.startsWith('<');
  const [first, last] = isFloor ? ['red', 'green'] : ['green', 'red'];
  const steps = [
    { color: first, value: null },
    { color: last, value: Number(red.replace('<', '')) },
  ];
  const url = `\${docs:raw}/on-call#tradinggraph${alert.toLowerCase()}`;
  return {
    type: 'stat',
    title,
    gridPos: { h: 4, w: 6, x: (at % 4) * 6, y: Math.floor(at / 4) * 4 },
    links: [{ title: `On call: ${alert}`, url, targetBlank: true }],
    fieldConfig: { defaults: { unit, thresholds: { mode: 'absolute', steps } } },
    options: { colorMode: 'background', reduceOptions: { calcs: ['lastNotNull'] } },
    targets,
  };
}

function graphPanel(figures: number) {
  const top = Math.ceil(figures / 4) * 4;
  return ({ title, unit, targets }: Panel, at: number) => ({
    type: 'timeseries',
    title,
    gridPos: { h: 8, w: 8, x: (at % 3) * 8, y: top + Math.floor(at / 3) * 8 },
    fieldConfig: { defaults: { unit } },
    targets,
  });
}

function frame() {
  return {
    uid: 'trading-graph',
    title: 'Trading Graph',
    tags: ['trading-graph'],
    schemaVersion: 38,
    editable: true,
    refresh: '30s',
    graphTooltip: 1,
    time: { from: 'now-3h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' },
        variable('job', 'label_values(trading_graph_build_info, job)'),
        variable('instance', 'label_values(trading_graph_build_info{job=~"$job"}, instance)'),
        {
          name: 'docs',
          label: 'Docs at',
          type: 'textbox',
          query: DOCS,
          current: { text: DOCS, value: DOCS },
        },
      ],
    },
    annotations: {
      list: [
        {
          name: 'Deployments',
          enable: true,
          iconColor: 'blue',
          datasource: SOURCE,
          expr: filled(DEPLOYED),
          titleFormat: 'Deployed {{version}}',
          textFormat: '{{revision}}',
        },
      ],
    },
  };
}

function variable(name: string, query: string) {
  return {
    name,
    label: name,
    type: 'query',
    datasource: SOURCE,
    query: { query, refId: name },
    definition: query,
    refresh: 2,
    includeAll: true,
    multi: true,
    allValue: '.*',
    current: { text: 'All', value: '$__all' },
  };
}
