import { createRandom } from '../../../sandbox/random.ts';
import type { Scene } from './scene.ts';
import { CATALOG_SCENES } from './scenes/catalog.ts';
import { GATEWAY_SCENES } from './scenes/gateway.ts';
import { REPLICA_SCENES } from './scenes/replicas.ts';
import { STORE_SCENES } from './scenes/stores.ts';
import { TOKEN_SCENES } from './scenes/tokens.ts';

/** The list that a night draws from; a new kind of fault is a row in one of these files. */
export const SCENES: readonly Scene[] = [
  ...GATEWAY_SCENES,
  ...TOKEN_SCENES,
  ...CATALOG_SCENES,
  ...STORE_SCENES,
  ...REPLICA_SCENES,
].map((row) => ({ lines: [], reasons: [], ...row }));

/** The scenes in an order that the seed decides, as many as are asked for. */
export function drawScenes(scenes: readonly Scene[], seed: string, count: number): Scene[] {
  const random = createRandom(seed);
  const left = [...scenes];
  const drawn: Scene[] = [];
  while (left.length > 0 && drawn.length < count) {
    drawn.push(...left.splice(Math.floor(random() * left.length), 1));
  }
  return drawn;
}
