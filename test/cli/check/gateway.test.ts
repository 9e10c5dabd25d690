import { expect, test } from 'vitest';
import { OPERATIONS, READ_NAMES, type ReadName } from '../../../src/gateway/operations.ts';
import type { Fault } from '../../../src/sandbox/faults.ts';
import { runCli } from '../../support/run-cli.ts';
import { answer, startScriptedGateway } from '../../support/scripted-gateway.ts';
import { startTlsFront } from '../../support/tls-front.ts';
import { checkOf, SERVICE, startGateway, type Variables } from './run-check.ts';

test('a gateway that follows the documented interface has no problem, and nothing is written to it', async () => {
  await using gateway = await startGateway();
  const { code, text, err } = await checkOf(gateway);
  expect([code, err]).toEqual([0, '']);
  expect(text).toContain('Configuration  fine');
  expect(text).toMatch(/op 10 +GET \S+ +200 +\d+ ms +(\d+) of \1 fields as described/);
  expect(text).toMatch(/\nNo problem[^\n]*$/);
  const called = gateway.requests().map(({ operation }) => operation);
  const isWithArguments = (name: ReadName) =>
    text.includes(`op ${OPERATIONS[name].number}: It is not checked, because it needs arguments.`);
  const expected = READ_NAMES.filter((name) => !isWithArguments(name));
  expect(new Set(called)).toEqual(new Set([...expected, 'login']));
  expect(gateway.calls('login')).toBe(1);
  expect(gateway.orders()).toEqual([]);
});

test('the sandbox itself can be checked', async () => {
  const environment = { ...SERVICE, SANDBOX_INSTRUMENTS: '20' };
  const { code, out } = await runCli(['check', '--sandbox'], environment);
  expect(code).toBe(0);
  // Only a read that needs arguments has a warning.
  expect(out.match(/^ {2}- (?!.*it needs arguments).*$/gm)).toBe(null);
});

/** A fault, and the first problem that the check reports. */
interface Case {
  readonly fault?: Fault;
  readonly settings?: Variables;
  readonly problem: RegExp;
}

const CASES: Readonly<Record<string, Case>> = {
  'calls that all hang': {
    fault: { operation: '*', kind: 'delay', delayMs: 600_000 },
    settings: { GATEWAY_TIMEOUT_MS: '2000' },
    problem: /^op 12: There is no usable answer: timeout/,
  },
  'another key, so that the service would refuse every request': {
    settings: { JWT_SECRET: 'another secret of thirty-two bytes' },
    problem: /^JWT_SECRET {2}The service refuses the token: /,
  },
  'an answer that is too large': {
    settings: { GATEWAY_MAX_BYTES: '100' },
    problem: /^op 2: There is no usable answer: oversize/,
  },
  'a wrong password': {
    settings: { CHECK_PASSWORD: 'wrong' },
    problem: /^CHECK_PASSWORD {2}op 2: The sign-in is refused \(status \d+\)\.$/,
  },
  'an answer that is not JSON': {
    fault: { operation: 'getSession', kind: 'garbage' },
    problem: /^.*op 10: The answer is not JSON/,
  },
  'a connection that breaks': {
    fault: { operation: 'getCustomerId', kind: 'reset-after' },
    problem: /^op 13: There is no usable answer: connection/,
  },
};

test.each(Object.entries(CASES))(
  'the check reports %s',
  async (_, { fault, settings, problem }) => {
    await using gateway = await startGateway();
    if (fault) gateway.fail(fault);
    const { code, problems } = await checkOf(gateway, settings);
    expect(problems).toEqual([expect.stringMatching(problem)]);
    expect(code).toBe(1);
  },
);

test('the check reports a URL without a gateway', async () => {
  const gateway = await startGateway();
  const { port, url } = gateway;
  await using front = await startTlsFront(port);
  const expectProblem = async (wrongUrl: string, code: RegExp) => {
    const problem = new RegExp(
      `^GATEWAY_URL {2}op 12: The gateway cannot be reached: ${code.source}`,
    );
    expect((await checkOf({ url: wrongUrl })).problems).toEqual([expect.stringMatching(problem)]);
  };
  await expectProblem('http://gateway.invalid', /E\w+/);
  await expectProblem(url.replace('http:', 'https:'), /ERR_SSL_\w+/);
  await expectProblem(`https://127.0.0.1:${front.port}`, /\w*SELF_SIGNED\w*/);
  await gateway.close();
  await expectProblem(url, /ECONNREFUSED/);
});

test.each([
  [
    'asks for its own credentials',
    answer(401, 'no', { 'www-authenticate': 'Basic realm="proxy"' }),
    /^GATEWAY_HEADERS {2}op 12: Status 401/,
  ],
  [
    'redirects to another base',
    answer(301, '', { location: 'https://gateway.example.com/api/trading/positions' }),
    /^GATEWAY_URL {2}op 12: Status 301/,
  ],
])('the check sends no password to a front proxy that %s', async (_, response, problem) => {
  await using proxy = await startScriptedGateway((socket) => socket.end(response));
  expect((await checkOf(proxy)).problems[0]).toMatch(problem);
  expect(proxy.requests).toHaveLength(1);
});
