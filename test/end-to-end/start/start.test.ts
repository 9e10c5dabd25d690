import { execFileSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Environment } from '../../../src/config.ts';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { postQuery, startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { startFacadeProcess } from '../../support/facade-process.ts';
import { failedStart } from '../../support/failed-start.ts';
import { listenLocally } from '../../support/local-server.ts';
import { ownFolder } from '../../support/own-folder.ts';

// TEST-NET addresses are for documentation: no machine has one.
const OTHER_MACHINE = '192.0.2.1';

const folder = ownFolder();

async function problemsOf(environment: Environment): Promise<readonly string[]> {
  const error = await startTestApp(environment).then(
    (app) => app.close(),
    (problem: Error) => problem,
  );
  expect(error).toMatchObject({ name: 'ConfigError' });
  return (error as Error).message.split('\n');
}

test.each([
  ['a folder', () => folder.path, '(it is not a file)'],
  ['in a file', () => join(folder.path, 'file', 'orders'), 'file is not a folder)'],
  ['below a file', () => join(folder.path, 'file', 'deeper', 'orders'), 'there is no folder'],
  ['in a folder that is missing', () => join(folder.path, 'none', 'orders'), 'mount its volume'],
  ['a file of something else', () => join(folder.path, 'file'), 'ORDER_STORE'],
  ['a pipe', () => join(folder.path, 'pipe'), '(it is not a file)'],
  ['a device', () => '/dev/null', '(it is not a file)'],
])('an order file stops the start if it is %s', async (_what, path, problem) => {
  await writeFile(join(folder.path, 'file'), 'not what this program writes\n'.repeat(1_000));
  execFileSync('mkfifo', [join(folder.path, 'pipe')]);
  const [line, ...more] = await problemsOf({ ORDER_STORE: path() });
  expect(line).toMatch(/^ORDER_STORE="[^"]+": must be a file that this process can use/);
  expect(line).toContain(problem);
  expect(more).toEqual([]);
});

test('each invalid manifest is reported in a line of its own', async () => {
  await writeFile(join(folder.path, 'a.json'), '{ "half": ');
  await writeFile(join(folder.path, 'b.json'), '[]');
  await writeFile(join(folder.path, 'c.json'), '{ "id": "{ __typename }" }');
  await writeFile(join(folder.path, 'd.json'), '{ "id": "{ customerId }" }');
  expect(await problemsOf({ PERSISTED_DOCUMENTS: folder.path })).toEqual([
    expect.stringMatching(/^PERSISTED_DOCUMENTS="[^"]+": must be a manifest.*a\.json: .*JSON/),
    expect.stringMatching(/^PERSISTED_DOCUMENTS="[^"]+": must be a manifest.*b\.json: .*object/),
    expect.stringMatching(/^PERSISTED_DOCUMENTS="[^"]+": must be a manifest.*two different/),
  ]);
  // A device is not read: reading it would never end.
  const path = '/dev/zero';
  expect(await problemsOf({ PERSISTED_DOCUMENTS: path })).toEqual([
    `PERSISTED_DOCUMENTS="${path}": must be a manifest, or a folder of them (${path}: it is not a file)`,
  ]);
});

test('a port in use and a host of another machine stop the start', async () => {
  await using taken = await listenLocally(createServer());
  for (const name of ['PORT', 'ADMIN_PORT']) {
    expect(await problemsOf({ [name]: String(taken.port) })).toEqual([
      `${name}=${taken.port}: must be a port that is free and open to this user (listen EADDRINUSE: address already in use 127.0.0.1:${taken.port})`,
    ]);
  }
  for (const name of ['HOST', 'ADMIN_HOST']) {
    expect(await problemsOf({ [name]: OTHER_MACHINE })).toEqual([
      expect.stringMatching(
        `^${name}="${OTHER_MACHINE}": must be an address of this machine, or the name of one .*EADDRNOTAVAIL`,
      ),
    ]);
    expect(await problemsOf({ [name]: 'host.invalid' })).toEqual([
      expect.stringMatching(`^${name}="host.invalid": .*getaddrinfo`),
    ]);
  }
});

test('a port in use may become free, so the exit code is 1 and not that of a wrong configuration', async () => {
  await using taken = await listenLocally(createServer());
  const { code, problems } = await failedStart({ PORT: String(taken.port), ORDER_STORE: 'memory' });
  expect({ code, problems }).toEqual({
    code: 1,
    problems: ['The start failed:', expect.stringContaining(`PORT=${taken.port}: must be a port`)],
  });
});

// A separate process, because reading such a file could block the process of the tests.
test('an unusable store and an unreadable manifest are reported together', async () => {
  const { code, stdout, problems } = await failedStart({
    ORDER_STORE: '/proc/self/mem',
    PERSISTED_DOCUMENTS: '/proc/kmsg',
  });
  expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
  expect(problems.slice(1)).toEqual([
    expect.stringContaining('PERSISTED_DOCUMENTS="/proc/kmsg": must be '),
    expect.stringContaining('ORDER_STORE="/proc/self/mem": must be '),
  ]);
});

test('a start that fails leaves nothing open', async () => {
  await using taken = await listenLocally(createServer());
  const path = join(folder.path, 'orders');
  await problemsOf({ ORDER_STORE: path, PORT: String(taken.port) });
  // The failed start has released its file, so another service can use the file.
  await using _app = await startTestApp({ ORDER_STORE: path });
});

test('a new order file is no reason for a warning while the gateway is the sandbox', async () => {
  await using app = await startTestApp({ ORDER_STORE: join(folder.path, 'orders') });
  expect(app.logged.filter((line) => line.includes('"warn"'))).toEqual([]);
});

test('a started process has logged its build, its gateway, its store and the warnings about its settings', async () => {
  await using gateway = await startSandbox({ tickMs: 0, instruments: 10 });
  const path = join(folder.path, 'orders');
  await using facade = await startFacadeProcess({
    GATEWAY_URL: gateway.url,
    ORDER_STORE: path,
    NODE_COMPILE_CACHE: join(folder.path, 'compiled'),
    REVISION: 'build-of-monday',
    RATE_LIMIT_PER_MIN: '31337',
  });
  const { version } = JSON.parse(
    await readFile(new URL('../../../package.json', import.meta.url), 'utf8'),
  );
  const records = () => facade.logged.map((line) => JSON.parse(line));
  const record = records().find(({ msg }) => msg === 'serving');
  expect(record).toMatchObject({
    version,
    revision: 'build-of-monday',
    node: process.version,
    gateway: gateway.url,
    store: path,
    url: facade.url,
  });
  expect(await (await fetch(`${record.adminUrl}/metrics`)).text()).toContain(
    `trading_graph_build_info{version="${version}",revision="build-of-monday",`,
  );
  const warned = () => records().flatMap(({ level, msg }) => (level === 'warn' ? [msg] : []));
  await eventually(() =>
    expect(warned()).toEqual([
      'RATE_LIMIT_PER_MIN is not a setting: is RATE_LIMIT_PER_MINUTE meant?',
    ]),
  );
  expect(facade.logged.join('\n')).not.toContain('31337');
  // A second service can use the same file at the same time.
  await using _other = await startTestApp({ ORDER_STORE: path });
  // Node makes the folder of its compile cache at the start, and writes the files later.
  const compiled = () => readdir(join(folder.path, 'compiled'), { recursive: true });
  await eventually(async () => expect((await compiled()).length).toBeGreaterThan(2));
});

test('a process that restarts on changes of its files uses a file of orders', async () => {
  await using gateway = await startSandbox({ tickMs: 0, instruments: 10 });
  const environment = { GATEWAY_URL: gateway.url, ORDER_STORE: join(folder.path, 'orders') };
  await using facade = await startFacadeProcess(environment, ['--watch']);
  const { data } = await facade.query('mutation { newOrderKey }');
  expect(data.newOrderKey).toEqual(expect.any(String));
  // SIGKILL would end the watching process alone.
  facade.signal('SIGTERM');
  await facade.ended();
});

test('in production wrong settings are reported only in the log', async () => {
  const { code, stdout, problems } = await failedStart({
    NODE_ENV: 'production',
    GATEWAY_URL: 'https://gateway.example.com',
    ORDER_STORE: 'memory',
    POSITIONS_POLL_MS: '1s',
    LOG_ACCOUNT_KEY: 'canary',
  });
  expect(code).toBe(78);
  expect(problems).toEqual(['']);
  const patterns = [/^POSITIONS_POLL_MS="1s": must be/, /^LOG_ACCOUNT_KEY \(value not shown\)/];
  const expected = patterns.map((pattern) => ({ problem: expect.stringMatching(pattern) }));
  // On a machine that allows few open files, a warning is logged too.
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.filter(({ level }) => level === 'fatal')).toMatchObject(expected);
  expect(stdout).not.toContain('canary');
  expect(stdout).not.toContain('    at ');
});

test.each([
  ['an error', 'throw new Error("of our own")'],
  ['a rejection', 'void Promise.reject(new Error("of our own"))'],
])('%s that nothing handles is logged in one line and ends the process', async (_what, fault) => {
  // Preloaded into the service, this file fails during the first request.
  const file = join(folder.path, 'fault.mjs');
  await writeFile(
    file,
    `import { subscribe } from 'node:diagnostics_channel';
    subscribe('http.server.request.start', () => setImmediate(() => { ${fault}; }));`,
  );
  await using sandbox = await startSandbox({ tickMs: 0 });
  const flags = ['--import', file];
  await using facade = await startFacadeProcess({ GATEWAY_URL: sandbox.url }, flags);
  await postQuery(`${facade.url}/graphql`, '{ __typename }', {}).catch(() => {});
  expect(await facade.ended()).toBe(1);
  const fatal = facade.logged.filter((line) => line.includes('"fatal"'));
  expect(fatal.map((line) => JSON.parse(line))).toEqual([
    {
      level: 'fatal',
      time: expect.any(String),
      err: expect.objectContaining({ message: 'of our own', stack: expect.any(String) }),
      msg: 'uncaught exception, exiting',
    },
  ]);
  // Node does not print the error again as plain text. The line of the request may follow.
  expect(facade.logged.filter((line) => !line.startsWith('{'))).toEqual([]);
});

test('a process that must not generate code starts, and answers each document again and again', async () => {
  await using gateway = await startSandbox({ tickMs: 0, instruments: 10 });
  const flags = ['--disallow-code-generation-from-strings'];
  await using facade = await startFacadeProcess({ GATEWAY_URL: gateway.url }, flags);
  const token = gateway.token({ email: 'demo@example.com' });
  const document = '{ session { login } positions { id instrument { name } } }';
  for (let run = 0; run < 3; run += 1) {
    const { data, errors } = await facade.query(document, { token });
    expect(errors).toEqual([]);
    expect(data.positions.length).toBeGreaterThan(0);
  }
});
