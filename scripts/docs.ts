// Writes the files that are made from the code: pages, schema.graphql, and the generated parts of the client and of the
// pages' snippets. With `--check` it writes nothing, and fails if a file and the code differ.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openApi } from '../src/check/open-api.ts';
import { buildSchema, printedSchema } from '../src/schema/schema.ts';
import { generatedFiles, ROWS, rowsFile } from './client-generated.ts';
import { withConfigurationTable } from './configuration-doc.ts';
import { errorsPage } from './errors-doc.ts';
import { metricsPage } from './metrics-doc.ts';
import { withOperations } from './operations-doc.ts';
import { prometheusRule } from './prometheus-rule.ts';

const root = join(import.meta.dirname, '..');
const isCheck = process.argv.includes('--check');

for await (const [path, text] of madeFromCode()) {
  if (isCheck && read(path) !== text) {
    console.error(`${path} differs from the code: run \`npm run docs\``);
    process.exitCode = 1;
  }
  if (isCheck) continue;
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

async function* madeFromCode(): AsyncGenerator<readonly [path: string, text: string]> {
  yield ['docs/configuration.md', withConfigurationTable(read('docs/configuration.md'))];
  yield ['docs/gateway.md', withOperations(read('docs/gateway.md'))];
  yield ['docs/openapi.json', `${JSON.stringify(openApi(), null, 2)}\n`];
  yield ['docs/errors.md', errorsPage()];
  yield ['docs/metrics.md', metricsPage()];
  const rule = prometheusRule(read('deploy/prometheus/alerts.yml'));
  yield ['deploy/kubernetes/prometheus-rule.yaml', rule];
  yield ['schema.graphql', `${printedSchema(buildSchema())}\n`];
  // This file is written before the next ones, which are made from the client's modules, because the modules import it.
  yield [join('client', ROWS), rowsFile()];
  for (const [name, text] of await generatedFiles()) yield [join('client', name), text];
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}
