/**
 * Builds the container image by its Dockerfile and runs it as docs/operations.md says, with a read-only root and
 * without root's rights: `npm run image:try`. It prints what the page documents. As root on Debian or Ubuntu it
 * installs what it needs; elsewhere it fails, since an image that was not run has not been tried. `--prepare` brings that in, and
 * does nothing else.
 */
import { locate } from '../test/support/machine.ts';
import { bringIn } from './apt-get.ts';
import { tryAsSandbox } from './image-try/as-sandbox.ts';
import { BASE_NAME, debian } from './image-try/base.ts';
import { buildImage } from './image-try/build.ts';
import { Buildah } from './image-try/buildah.ts';
import { checkContents } from './image-try/contents.ts';
import { IDLE_MS, measure, STARTS } from './image-try/measure.ts';
import { tryWithoutGateway } from './image-try/without-gateway.ts';

if (process.getuid?.() !== 0) throw new Error('the image is built and run by root alone');
for (const tool of ['buildah', 'mmdebstrap']) {
  const problem =
    locate('', [tool]) === null ? bringIn(tool, 'for the image', Date.now() + 300_000) : null;
  if (problem !== null) throw new Error(`${tool} is not here: ${problem}`);
}
if (process.argv.includes('--prepare')) {
  debian();
  process.exit();
}

using buildah = new Buildah(locate('', ['buildah']) ?? 'buildah');
const image = buildImage(buildah);
const bytes = checkContents(image);
await tryWithoutGateway(image);
await tryAsSandbox(image);
const { startSeconds, idleMegabytes } = await measure(image);
process.stdout.write(`
| The image | |
|---|---|
| its base here | ${BASE_NAME}, Node ${process.versions.node} |
| size of \`/app\` | ${(bytes / 1e6).toFixed(0)} MB |
| start, from the command to the line \`serving\`, median of ${STARTS} | ${startSeconds.toFixed(2)} s |
| resident memory, idle for ${IDLE_MS / 1_000} s | ${idleMegabytes} MB |
| built in | ${image.buildSeconds.toFixed(0)} s, after ${image.baseSeconds.toFixed(0)} s for the base |
`);
