import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPage } from '../../../client/test/support/samples.ts';
import { startSandbox } from '../../../sandbox/start.ts';
import { startFacadeProcess } from '../../support/facade-process.ts';
import { temporaryFolder } from '../../support/own-folder.ts';
import { startedOnce } from '../../support/started.ts';
import { startSideService } from './side-service.ts';

const ROOT = join(import.meta.dirname, '../../..');
const { samples } = readPage('docs/extensions.md');
const ARTICLES = ['one', 'two', 'three'].map((headline) => ({ symbol: 'AAPL', headline }));

// The extension that docs/extensions.md shows, in a folder that looks like a checkout.
const folder = startedOnce(temporaryFolder);
const sandbox = startedOnce(() => startSandbox({ tickMs: 0 }));
const service = startedOnce(startSideService);
const facade = startedOnce(() => {
  for (const name of ['src', 'node_modules', 'tsconfig.json', 'package.json']) {
    symlinkSync(join(ROOT, name), join(folder.path, name));
  }
  return startFacadeProcess({
    GATEWAY_URL: sandbox.url,
    EXTENSIONS: write('served.ts', (text) => text.replace('https://news.internal', service.url)),
  });
});

function write(name: string, replaced: (text: string) => string = (text) => text): string {
  const text = samples.find(({ language }) => language === 'ts')?.text ?? '';
  const path = join(folder.path, name);
  writeFileSync(path, replaced(text));
  return path;
}

test('it type-checks by the page’s own command', () => {
  const [, options = ''] = /^npx tsc (.*)$/m.exec(samples.map(({ text }) => text).join('\n')) ?? [];
  const check = () => {
    const args = [join(ROOT, 'node_modules/typescript/bin/tsc'), ...options.split(' ')];
    return execFileSync(process.execPath, args, { cwd: folder.path, encoding: 'utf8' });
  };
  write('graph.ts');
  expect(check()).toBe('');
  write('graph.ts', (text) => text.replace('one.symbol', 'one.ticker'));
  expect(check).toThrow();
});

test('it is answered to a proved account alone, as long as is asked for, and null alone where its backend fails', async () => {
  const token = sandbox.token({ email: 'demo@example.com' });
  service.answer = () => ({ status: 200, body: { articles: ARTICLES } });
  const document = '{ news(symbol: "AAPL") { headline } }';
  expect((await facade.query(document)).errors).toMatchObject([
    { path: ['news'], extensions: { code: 'UNAUTHENTICATED' } },
  ]);
  expect(service.received).toEqual([]);
  expect((await facade.query(document, { token })).data.news).toHaveLength(3);
  const news = (given: string) =>
    facade.query(`{ instrument(id: "AAPL") { name news${given} { headline } } }`, { token });
  expect((await news('(limit: 2)')).data.instrument.news).toEqual([
    { headline: 'one' },
    { headline: 'two' },
  ]);
  expect((await news('(limit: 21)')).errors).toMatchObject([
    { extensions: { code: 'BAD_USER_INPUT', argument: 'limit', retryable: false } },
  ]);
  service.answer = () => ({ status: 500, body: {} });
  const { data, errors } = await news('');
  expect(data).toEqual({ instrument: { name: 'Apple Inc.', news: null } });
  expect(errors).toMatchObject([{ extensions: { code: 'GATEWAY_UNAVAILABLE' } }]);
});
