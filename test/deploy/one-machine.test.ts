import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseEnvironment } from '../../src/config.ts';
import { describeWithHaproxy } from '../support/describe-with.ts';
import { systemdAnalyzePath } from '../support/machine.ts';
import { ownFolder } from '../support/own-folder.ts';
import { deployFolder, root } from './support/files.ts';
import { balancer, replicas, unitText as text, units } from './support/unit-file.ts';

const gateway = { GATEWAY_URL: 'https://gateway.example.com' };
const folder = ownFolder();

test('the unit is one that systemd takes', async () => {
  // The Node of this machine may be elsewhere than in the unit.
  const here = text.replace('/usr/bin/node', process.execPath);
  expect(here).not.toBe(text);
  await writeFile(join(folder.path, 'trading-graph@.service'), here);
  if (systemdAnalyzePath !== null) {
    const { status, stdout, stderr } = spawnSync(
      systemdAnalyzePath,
      ['verify', '--man=no', join(folder.path, 'trading-graph@1.service')],
      { encoding: 'utf8' },
    );
    // A machine's own units may be worth a remark as well.
    const remarks = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('trading-'));
    expect(remarks).toEqual([]);
    expect(status).toBe(0);
  }
  for (const line of text.split('\n').filter((one) => one !== '')) {
    expect(line).toMatch(/^(#.*|\[(Unit|Service|Install)\]|[A-Z]\w+=.*)$/);
  }
});

test('the unit gives every process a configuration that the service accepts, and time to stop', () => {
  for (const unit of units) {
    const { config, problems, warnings } = parseEnvironment({ ...gateway, ...unit.environment });
    expect([...problems, ...warnings]).toEqual([]);
    const { shutdownDelayMs, shutdownGraceMs, orderStore } = config;
    const stopMs = Number(unit.value('TimeoutStopSec')) * 1_000;
    expect(stopMs).toBeGreaterThanOrEqual(shutdownDelayMs + shutdownGraceMs + 15_000);
    expect(orderStore).toBe(`/var/lib/${unit.value('StateDirectory')}/orders.db`);
    const [, script = ''] = unit.value('ExecStart')?.split(' ') ?? [];
    expect(existsSync(join(root, script))).toBe(true);
  }
});

test('the unit starts a process again at once, writes to its state alone, takes no memory of others and gains no privileges', () => {
  const [unit] = units;
  const has = (...keys: string[]) => keys.map((key) => unit?.value(key));
  expect(has('Restart', 'RestartSec')).toEqual(['on-failure', '100ms']);
  expect(text).toContain('\nStartLimitIntervalSec=0\n');
  expect(has('MemoryMax')).toEqual(['2G']);
  expect(has('User', 'ProtectSystem')).toEqual(['trading-graph', 'strict']);
  expect(has('NoNewPrivileges', 'CapabilityBoundingSet')).toEqual(['yes', '']);
  expect(text).toContain(`\nEnvironment=NODE_COMPILE_CACHE=/var/cache/${has('CacheDirectory')}\n`);
  expect(has('ReadWritePaths', 'AmbientCapabilities')).toEqual([undefined, undefined]);
});

test('the load balancer is given the address of each process', () => {
  expect(replicas.length).toBeGreaterThan(1);
  const addresses = units.map(({ environment: { HOST, PORT } }) => `${HOST}:${PORT}`);
  expect(replicas.map((name) => balancer[name])).toEqual(addresses);
  const [, path = ''] = balancer.CONFIG?.split('/opt/trading-graph/deploy/') ?? [];
  expect(existsSync(join(deployFolder, path))).toBe(true);
});

describeWithHaproxy('on one machine', (haproxyPath) => {
  test('the settings of the load balancer are complete', () => {
    const file = join(deployFolder, 'haproxy', 'haproxy.cfg');
    const { status, stderr } = spawnSync(haproxyPath, ['-c', '-f', file], {
      env: balancer,
      encoding: 'utf8',
    });
    expect(status, stderr).toBe(0);
  });
});
