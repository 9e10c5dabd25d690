export { type Fake, type FakeOptions, fakeClient } from './testing/fake-client.ts';
export type { FakeMarket, FakeMarketOptions, FakeResult, Renewal } from './testing/fake-market.ts';
export type { FakeNetwork } from './testing/fake-network.ts';
export { sandboxToken } from './testing/sandbox-token.ts';
