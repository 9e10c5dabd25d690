import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generatedFiles } from '../../scripts/client-generated.ts';

test("what the package has from the server is what the server's code says", async () => {
  for (const [path, text] of await generatedFiles()) {
    expect(readFileSync(join(import.meta.dirname, '..', path), 'utf8'), path).toBe(text);
  }
});
