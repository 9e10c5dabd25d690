import { expect, test } from 'vitest';
import { extensionNames } from '../../lib/extension-code.ts';

test('extensions are named by their files, and those of one name by their folders too', () => {
  const paths = ['/app/alerts/graph.ts', '/app/news.js', '/app/prices/graph.mjs'];
  expect(extensionNames(paths)).toEqual(['alerts/graph', 'news', 'prices/graph']);
});
