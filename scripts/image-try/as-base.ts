import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BuiltImage } from './build.ts';
import type { Buildah } from './buildah.ts';
import { startContainer } from './container.ts';
import { expectEqual } from './expect.ts';

const DERIVED = 'localhost/image-try-derived';

const FILES = {
  Dockerfile: `FROM localhost/image-try
COPY graph.ts plugins.mjs ./
ENV EXTENSIONS=graph.ts PLUGINS=plugins.mjs
`,
  'graph.ts': `export default ({ builder }: { readonly builder: any }) =>
  builder.queryField('greeting', (t: any) => t.string({ description: 'x', resolve: () => 'Hello' }));
`,
  // It gets the program's own copy of graphql, or the start would stop.
  'plugins.mjs':
    "import { GraphQLError } from 'graphql';\nexport default [{ name: GraphQLError.name }];\n",
};

/** What docs/operations.md has for a team's own image: three lines, and it serves the team's fields. */
export async function tryAsBase(buildah: Buildah, image: BuiltImage): Promise<void> {
  const folder = join(image.volumesFolder, 'derived');
  mkdirSync(folder);
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
  buildah.build(DERIVED, folder);
  const config = buildah.config(DERIVED);
  const derived = { ...image, config, rootFolder: buildah.from(DERIVED).folder };
  await using container = await startContainer(derived, { SANDBOX: 'on' });
  await container.serving;
  const url = `${container.url}/graphql?query=${encodeURIComponent('{ greeting }')}`;
  const { data } = (await (await fetch(url)).json()) as { data?: unknown };
  expectEqual(data, { greeting: 'Hello' }, 'an image of three lines serves fields of its own');
}
