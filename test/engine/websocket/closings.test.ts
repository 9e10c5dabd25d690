import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CLOSINGS } from '../../../src/engine/websocket/graphql-socket.ts';

const ROOT = join(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const sources = globSync('src/engine/websocket/*.ts', { cwd: ROOT }).map(read).join('');

test('every closing is listed, used and documented', () => {
  const used = [...sources.matchAll(/\.close\('(\w+)'/g)].map(([, name]) => name);
  expect(Object.keys(CLOSINGS).sort()).toEqual([...new Set(used)].sort());
  // Only one call passes a code to `ws`. Every other call names its closing.
  expect(sources.match(/\.close\((?!'\w+')/g)).toHaveLength(1);
  const documented = read('docs/live.md');
  for (const [code, reason] of Object.values(CLOSINGS)) {
    expect(documented).toContain(String(code));
    // A close frame has room for 123 bytes after its code.
    expect(reason.length).toBeLessThanOrEqual(123);
  }
});
