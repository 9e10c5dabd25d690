import { hash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { describeWithHaproxy } from '../support/describe-with.ts';
import { temporaryFolder } from '../support/own-folder.ts';
import { startHaproxy } from '../support/replicas.ts';
import { unsignedToken } from '../support/tokens.ts';
import { readDeployed } from './support/files.ts';
import { startPod } from './support/pod.ts';

const SNIPPET = 'haproxy.org/backend-config-snippet';
const { metadata, spec, ...rest } = parse(readDeployed('kubernetes', 'ingress.yaml'));
const annotations: Readonly<Record<string, string>> = metadata.annotations;
const snippet = annotations[SNIPPET] ?? '';
const [head = '', rules = ''] = readDeployed('haproxy', 'haproxy.cfg').split('frontend graph\n');
// The ingress has no statistics page, and no tables of limits because the controller's annotations set these limits.
const notInIngress = /^(?:frontend stats|backend (?:sources|requests|anonymous))\n(?: .*\n)*/gm;
const haproxy = `${head.replaceAll(notInIngress, '')}${rules}`;
const COMMON_RULE = /^(http-request|stick-table|acl|balance|hash-type|retry-on)\b/;
/** The rules for the number of requests, which only haproxy.cfg has: the ingress limits requests by an annotation. */
const REQUEST_LIMIT = /\b(sc2|probe|named)\b|track-sc2|sc2_/;
// haproxy.cfg names the backend whose servers it counts, and the ingress does not: it counts those of its own backend.
const rulesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim().replaceAll('(replicas)', ''))
    .filter((line) => COMMON_RULE.test(line) && !REQUEST_LIMIT.test(line));

test('the ingress names the service’s port, and has its host in the certificate', () => {
  const [{ host }] = spec.rules;
  const backend = { service: { name: 'trading-graph', port: { name: 'http' } } };
  expect(rest).toEqual({ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress' });
  expect(spec).toEqual({
    ingressClassName: 'haproxy',
    tls: [{ hosts: [host], secretName: expect.any(String) }],
    rules: [{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }],
  });
  const foreign = Object.keys(annotations).filter((name) => !name.startsWith('haproxy.org/'));
  expect(foreign).toEqual([]);
  expect(readDeployed('kubernetes', 'service.yaml')).toMatch(/name: http,/);
});

test('the ingress has the rules and timeouts of deploy/haproxy', () => {
  expect(rulesOf(haproxy).length).toBeGreaterThan(10);
  expect(rulesOf(snippet).sort()).toEqual(rulesOf(haproxy).sort());
  const timeouts = Object.entries(annotations).filter(([name]) => /timeout-/.test(name));
  expect(timeouts.length).toBe(5);
  for (const [name, value] of timeouts) {
    const directive = name.replace('haproxy.org/timeout-', '');
    expect(haproxy).toContain(`timeout ${directive} ${value}\n`);
  }
});

test('the ingress keeps the date of the service’s answers', () => {
  expect(JSON.stringify(metadata)).not.toMatch(/(?:set|del|add|replace)-header date/i);
});

describeWithHaproxy('behind a haproxy whose backend has the snippet of the ingress', (path) => {
  let resources: AsyncDisposableStack;
  let url: string;

  beforeAll(async () => {
    await using opened = new AsyncDisposableStack();
    const pods = await Promise.all(['a', 'b', 'c'].map((name) => startPod(opened, name)));
    const folder = opened.use(await temporaryFolder());
    const configuration = join(folder.path, 'haproxy.cfg');
    await writeFile(configuration, generated(pods));
    url = opened.use(await startHaproxy(path, configuration, {})).url;
    resources = opened.move();
  });
  afterAll(() => resources.disposeAsync());

  const podOf = async (query: string, headers: Record<string, string> = {}) =>
    (await fetch(`${url}/graphql${query}`, { headers })).text();

  test('an account is routed to one pod, by the route in its URL or by its token', async () => {
    const pods = new Set<string>();
    for (let login = 700_001; login <= 700_030; login += 1) {
      const digest = hash('sha256', String(login), 'hex').slice(0, 4);
      const pod = await podOf(`?route=${digest}`);
      const token = unsignedToken({ login });
      expect(await podOf('', { authorization: `Bearer ${token}` })).toBe(pod);
      expect(await podOf(`?route=${digest}`)).toBe(pod);
      pods.add(pod);
    }
    expect([...pods].sort()).toEqual(['a', 'b', 'c']);
  });

  test('clients can set their request id, but neither a trace nor an address', async () => {
    const { headers } = await fetch(`${url}/graphql`, {
      headers: {
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        tracestate: 'vendor=1',
        baggage: 'user=1',
        'x-request-id': 'mine',
        'x-forwarded-for': '198.51.100.7',
      },
    });
    const arrived = JSON.parse(headers.get('x-arrived') ?? '') as Record<string, string>;
    for (const name of ['traceparent', 'tracestate', 'baggage']) {
      expect(arrived).not.toHaveProperty(name);
    }
    expect(arrived).toMatchObject({ 'x-request-id': 'mine', 'x-forwarded-for': '127.0.0.1' });
  });

  test('requests without an account are spread over the pods', async () => {
    const pods = await Promise.all(Array.from({ length: 60 }, () => podOf('')));
    expect(new Set(pods).size).toBe(3);
  });
});

/** A configuration like that of the ingress controller, with the ingress's snippet. */
function generated(pods: readonly string[]): string {
  return `defaults
  mode http
  timeout connect 2s
  timeout client 10s
  timeout server 10s
frontend https
  bind "\${BIND}"
  default_backend pods
backend pods
  balance roundrobin
  no option abortonclose
  default-server check
${snippet.replaceAll(/^/gm, '  ')}
${pods.map((address, at) => `  server SRV_${at + 1} ${address} enabled`).join('\n')}
`;
}
