import type { WirePosition } from '../../sandbox/wire-types.ts';
import type { Extension } from '../../src/extensions/kit.ts';

const EVERYTHING = 100_000;

/** The positions once more, as the rows of an extension whose backend is the gateway. */
const extension: Extension = ({ builder, backend, live }) => {
  const positions = backend({
    name: 'rows',
    url: process.env.GATEWAY_URL ?? '',
    forwardToken: true,
    connections: 512,
    pollsPerSecond: EVERYTHING,
    reads: { list: '/trading/positions' },
  });
  const RowRef = builder.objectRef<WirePosition>('BenchRow').implement({
    description: 'A position.',
    fields: (t) => ({
      id: t.exposeID('id'),
      symbol: t.exposeID('symbol'),
      units: t.exposeFloat('units'),
      priceOpen: t.exposeFloat('priceOpen'),
      priceCurrent: t.exposeFloat('priceCurrent'),
      profit: t.exposeFloat('profit'),
    }),
  });
  live({
    name: 'rows',
    type: RowRef,
    key: ({ id }) => id,
    everyMs: 1_000,
    read: async (context) =>
      (await positions.read<{ positions: readonly WirePosition[] }>(context, 'list')).positions,
  });
};

export default extension;
