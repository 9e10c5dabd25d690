import type { Environment } from '../../../src/config.ts';
import type { Sandbox } from '../../../src/sandbox/start.ts';

/** A fault of the night, and the alerts that have to fire: the page, where there is one, and the tickets that name the cause. */
export interface Scene {
  readonly title: string;
  readonly alerts: readonly string[];
  readonly environment?: Environment;
  begin(gateway: Sandbox): unknown;
  end(gateway: Sandbox): unknown;
}

type Fault = Parameters<Sandbox['fail']>[0];
type CatalogChange = Parameters<Sandbox['changeCatalog']>[0];

const faulty = (title: string, alerts: readonly string[], fault: Fault): Scene => ({
  ...{ title, alerts },
  begin: (gateway) => gateway.fail(fault),
  end: (gateway) => gateway.clearFaults(),
});

/** The catalog counts as an hour old after seconds, so that what the gateway changes is fetched within the scene. */
const changed = (title: string, change: CatalogChange, back: CatalogChange): Scene => ({
  ...{ title, alerts: ['TradingGraphCatalogWrong'] },
  environment: { CATALOG_MAX_AGE_SECONDS: '10' },
  begin: (gateway) => gateway.changeCatalog(change),
  end: (gateway) => gateway.changeCatalog(back),
});

const UNREACHABLE = ['TradingGraphGatewayUnreachable'];
const FAILING = ['TradingGraphGatewayFailing', 'TradingGraphLiveDelayed'];
const SIGN_IN = ['TradingGraphSignIn'];

/** A new kind of fault is a row; the catalog has 100 instruments, and a few that other groups have. */
export const SCENES: readonly Scene[] = [
  faulty('The gateway is down', UNREACHABLE, { operation: '*', kind: 'reset-before' }),
  faulty('The gateway hangs', UNREACHABLE, { operation: '*', kind: 'hang' }),
  faulty('The gateway answers 429', FAILING, { operation: '*', kind: 'status', status: 429 }),
  faulty('Positions are garbage', FAILING, { operation: 'getOpenPositions', kind: 'garbage' }),
  faulty(
    'One backend fails, the payments',
    ['TradingGraphGatewayFailing', 'TradingGraphBudgetBurn'],
    { operation: 'getCustomerId', kind: 'status', status: 503 },
  ),
  faulty('One account fails, of many', ['TradingGraphPositionsOld'], {
    ...{ operation: '*', kind: 'status', status: 500, login: 800_001 },
  }),
  faulty('One operation is slow', ['TradingGraphGatewaySlow'], {
    ...{ operation: 'getCustomerId', kind: 'delay', delayMs: 3_000 },
  }),
  faulty('The clock is two hours off', ['TradingGraphClockSkewed'], {
    ...{ operation: '*', kind: 'clock', shiftSeconds: 7_200 },
  }),
  faulty('Orders are cut off after they were sent', ['TradingGraphOrderUnknown'], {
    ...{ operation: 'openPosition', kind: 'reset-after', times: 3 },
  }),
  faulty('The order operation hangs', ['TradingGraphOrders'], {
    ...{ operation: 'openPosition', kind: 'hang' },
  }),
  faulty('One operation refuses all tokens', SIGN_IN, {
    ...{ operation: 'getOpenPositions', kind: 'status', status: 401 },
  }),
  faulty('Every operation refuses all tokens', SIGN_IN, {
    ...{ operation: '*', kind: 'status', status: 401 },
  }),
  changed('The catalog has lost a fifth of its instruments', { remove: 25 }, { add: 25 }),
  changed('Three rows in ten of the catalog are broken', { broken: 30 }, { broken: 0 }),
  changed('The catalog has shrunk to a quarter', { remove: 80 }, { add: 80 }),
];
