import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
}

/** A CycloneDX document, as npm writes it. */
interface Bom {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** The packages that ship in the image, as a CycloneDX document: those of the service, and those of GraphiQL's page. */
export function readBom(root: string): Bom {
  const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const [service, graphiql] = [bomOf(root), bomOf(join(root, 'src', 'graphiql'))];
  const components = [...service.components, graphiql.metadata.component, ...graphiql.components];
  const dependencies = [...service.dependencies, ...graphiql.dependencies];
  // Both have some packages, and the workspace's other packages do not ship.
  const shipped = new Map(
    components
      .filter((each) => !each['bom-ref'].startsWith('trading-graph-client@'))
      .map((each) => [each['bom-ref'], each]),
  );
  const own = service.metadata.component;
  return {
    ...service,
    metadata: { ...service.metadata, component: { ...own, name, version } },
    components: [...shipped.values()],
    dependencies: [...new Map(dependencies.map((each) => [each.ref, each])).values()].filter(
      ({ ref }) => shipped.has(ref) || ref === own['bom-ref'],
    ),
  };
}

/** npm's own list, from the lock file alone. */
function bomOf(folder: string): Bom {
  const omitted = ['--omit=dev', '--omit=optional'];
  const args = ['sbom', '--package-lock-only', ...omitted, '--sbom-format=cyclonedx'];
  return JSON.parse(execFileSync('npm', args, { cwd: folder, encoding: 'utf8' }));
}
