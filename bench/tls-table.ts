import { makeCertificate } from '../test/support/certificate.ts';
import type { Contestant } from './support/contestant.ts';
import type { Field } from './support/field.ts';
import { type Gateway, startGateway } from './support/gateway.ts';
import { fire } from './support/load.ts';
import { table } from './support/markdown.ts';
import { measure, type Pace } from './support/measure.ts';
import { startOurs, type Variant } from './support/start-contestants.ts';
import type { Workload } from './support/workloads.ts';

const SITUATIONS = [
  ['the gateway keeps connections', false],
  ['it closes each after its answer', true],
] as const;

/** The CPU of a home screen, of three calls, with the gateway behind TLS, beside one without in turn. */
export async function tlsTable(field: Field, pace: Pace): Promise<string> {
  await using files = await makeCertificate();
  const { instruments, tokens } = field.surroundings;
  await using gateway = await startGateway(instruments, tokens.length, { tls: files });
  const home = field.workloads.find(({ name }) => name === 'home');
  if (home === undefined) throw new Error('there is no home screen');
  await using started = new AsyncDisposableStack();
  const open = async (gatewayUrl: string, variant: Variant) => {
    const environment = { ...variant.environment, NODE_EXTRA_CA_CERTS: files.certificate };
    const surroundings = { ...field.surroundings, ...gateway, gatewayUrl };
    const contestant = await startOurs(surroundings, { ...variant, environment });
    started.use(contestant.process);
    return contestant;
  };
  const plain = await open(gateway.url, { name: 'plain' });
  const secured: Contestant[] = [];
  for (const variant of field.variants) secured.push(await open(gateway.tlsUrl, variant));
  const rows: string[][] = [];
  for (const [title, closes] of SITUATIONS) {
    await gateway.order({ closes });
    const figures = await measure(gateway, [plain, ...secured], home, pace);
    const http = figures.get(plain)?.cpu ?? Number.NaN;
    for (const contestant of secured) {
      const { cpu, ratio } = figures.get(contestant) ?? { cpu: Number.NaN, ratio: Number.NaN };
      const { handshakes, resumed, answered } = await handshakesOf(gateway, contestant, home);
      rows.push([
        `${title}: ${contestant.name}`,
        `${http.toFixed(0)} µs`,
        `${cpu.toFixed(0)} µs`,
        ratio.toFixed(2),
        (handshakes / answered).toFixed(3),
        handshakes === 0 ? '–' : `${((resumed / handshakes) * 100).toFixed(0)} %`,
      ]);
    }
  }
  const head = ['http', 'https', 'ratio', 'handshakes a screen', 'of which resumed'];
  return table(['CPU of a home screen with TLS to the gateway', ...head], rows);
}

const COUNTED_MS = 2_000;

async function handshakesOf(
  gateway: Gateway,
  contestant: Contestant,
  { connections, encoding, market, next }: Workload,
) {
  const before = await gateway.order({ market });
  const { answered } = await fire({
    port: contestant.port,
    connections,
    durationMs: COUNTED_MS,
    next: (connection) => contestant.request(next(), encoding, connection),
  });
  const after = await gateway.order({ market });
  return {
    answered,
    handshakes: after.handshakes - before.handshakes,
    resumed: after.resumed - before.resumed,
  };
}
