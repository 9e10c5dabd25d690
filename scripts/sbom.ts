// Writes the bill of materials of what ships to stdout, as CycloneDX, from the lock files: the production packages, those of
// GraphiQL, whose files the service serves, and the Node of the image. `npm sbom --omit=dev` would leave out production packages that a package of
// development needs too, GraphQL itself among them; so npm lists all, and the lock file tells which of them to leave out.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { productionPackages } from './locked-packages.ts';

interface Component {
  readonly 'bom-ref': string;
  name: string;
  readonly version: string;
  properties: { readonly name: string; readonly value: string }[];
  readonly type?: string;
  readonly purl?: string;
  /** By which scanners find what is known of a program that no registry has. */
  readonly cpe?: string;
  readonly licenses?: readonly { readonly license: { readonly id: string } }[];
}

interface Dependency {
  readonly ref: string;
  readonly dependsOn: readonly string[];
}

interface Bill {
  readonly metadata: { readonly component: Component };
  components: Component[];
  dependencies: Dependency[];
}

const DEVELOPMENT = 'cdx:npm:package:development';

const root = join(import.meta.dirname, '..');
const bill = billOf(root);
const graphiql = billOf(join(root, 'graphiql'));
const node = nodeOfImage();
bill.components = distinct(
  [...bill.components, graphiql.metadata.component, ...graphiql.components, node],
  (one) => one['bom-ref'],
);
const served = [graphiql.metadata.component, node].map((one) => one['bom-ref']);
const serving: Dependency = { ref: bill.metadata.component['bom-ref'], dependsOn: served };
// A package of both depends on what it needs in either.
bill.dependencies = distinct(
  [...bill.dependencies, serving, ...graphiql.dependencies].map(({ ref }, _at, all) => ({
    ref,
    dependsOn: [...new Set(all.flatMap((one) => (one.ref === ref ? one.dependsOn : [])))],
  })),
  ({ ref }) => ref,
);
process.stdout.write(`${JSON.stringify(bill, null, 2)}\n`);

/** What a folder's lock file has for production. */
function billOf(folder: string): Bill {
  const bill = JSON.parse(
    execFileSync(
      'npm',
      ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'],
      { cwd: folder, encoding: 'utf8', maxBuffer: 100_000_000 },
    ),
  ) as Bill;
  const inProduction = new Set(
    productionPackages(folder)
      // The one optional package is Node, which a container has of its own: `nodeOfImage`.
      .filter(([, { optional }]) => !optional)
      .map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`),
  );
  bill.components = bill.components.filter(({ name, version }) =>
    inProduction.has(`${name}@${version}`),
  );
  for (const component of bill.components) {
    // npm describes only one copy of each version, which may be one of development.
    component.properties = component.properties.filter(({ name }) => name !== DEVELOPMENT);
  }
  const kept = new Set([bill.metadata.component, ...bill.components].map((one) => one['bom-ref']));
  bill.dependencies = bill.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => kept.has(one)) }));
  // npm names the project after its folder, which may be called anything.
  const { name } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  bill.metadata.component.name = name;
  return bill;
}

function nodeOfImage(): Component {
  const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
  const version = /^ARG NODE_IMAGE=node:([\d.]+)/m.exec(dockerfile)?.[1];
  if (version === undefined) throw new Error('The Dockerfile names no version of Node.');
  const purl = `pkg:generic/node@${version}`;
  return {
    'bom-ref': purl,
    type: 'application',
    name: 'node',
    version,
    purl,
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    licenses: [{ license: { id: 'MIT' } }],
    properties: [],
  };
}

function distinct<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  return [...new Map(items.map((item) => [keyOf(item), item])).values()];
}
