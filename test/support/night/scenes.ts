import type { Environment } from '../../../src/config.ts';
import type { Line, Stage } from './stage.ts';

export interface Scene {
  readonly title: string;
  /** The alerts that have to fire. */
  readonly alerts: readonly string[];
  /** The lines that have to be logged. */
  readonly lines: readonly { readonly says: string; readonly fits: (line: Line) => boolean }[];
  /** The reasons that readiness has to give. */
  readonly reasons?: readonly string[];
  readonly environment?: Environment;
  readonly needs?: 'redis' | 'small disk';
  begin(stage: Stage): Promise<unknown>;
  end(stage: Stage): Promise<unknown>;
}

const JWT_SECRET = 'the key that the service knows, for a night';

const fails = (backend: string, outcome: string) => ({
  says: `\`a backend of the gateway fails\`, \`backend: ${backend}\`, \`outcome: ${outcome}\``,
  fits: (line: Line) =>
    line.msg === 'a backend of the gateway fails' &&
    line.backend === backend &&
    line.outcome === outcome,
});

const looksWrong = (setting: string) => ({
  says: `\`a setting looks wrong\`, \`settings: ${setting}\``,
  fits: ({ msg, settings }: Line) =>
    msg === 'a setting looks wrong' && Array.isArray(settings) && settings.includes(setting),
});

const restarted = (title: string, environment: (stage: Stage) => Environment, setting: string) => ({
  title,
  alerts: ['TradingGraphSettingsWrong'],
  lines: [looksWrong(setting)],
  reasons: ['settings'],
  async begin(stage: Stage) {
    await stage.stopFacade();
    await stage.startFacade(environment(stage));
  },
  async end(stage: Stage) {
    await stage.stopFacade();
    await stage.startFacade();
  },
});

export const SCENES: readonly Scene[] = [
  {
    title: 'The gateway is down',
    alerts: [
      'TradingGraphErrorShareFast',
      'TradingGraphBreakerOpen',
      'TradingGraphFeedsDelayed',
      'TradingGraphOrdersUnsent',
    ],
    lines: [
      fails('reads', 'connect'),
      {
        says: '`a backend of the gateway still fails`, `accounts` more than one',
        fits: ({ msg, accounts }) =>
          msg === 'a backend of the gateway still fails' && Number(accounts) > 1,
      },
    ],
    reasons: ['gateway'],
    begin: (stage) => stage.gateway.close(),
    end: (stage) => stage.restartGateway(),
  },
  {
    title: 'The gateway is slow: each call takes 3 s',
    alerts: ['TradingGraphSlow'],
    lines: [
      {
        says: '`request`, `durationMs` and `gatewayMs` over 2000',
        fits: ({ msg, gatewayMs }) => msg === 'request' && Number(gatewayMs) > 2_000,
      },
    ],
    begin: async ({ gateway }) => gateway.fail({ operation: '*', kind: 'delay', delayMs: 3_000 }),
    end: async ({ gateway }) => gateway.clearFaults(),
  },
  {
    title: 'The gateway answers 429 to everything',
    alerts: ['TradingGraphGatewayRateLimited', 'TradingGraphErrorShareFast'],
    lines: [fails('reads', '429'), looksWrong('GATEWAY_POLLS_PER_SECOND')],
    reasons: ['settings'],
    begin: async ({ gateway }) => gateway.fail({ operation: '*', kind: 'status', status: 429 }),
    end: async ({ gateway }) => gateway.clearFaults(),
  },
  {
    title: 'One backend fails, the payments',
    alerts: ['TradingGraphBreakerOpen', 'TradingGraphErrorShareFast'],
    lines: [fails('payments', '5xx')],
    reasons: ['gateway'],
    begin: async ({ gateway }) =>
      gateway.fail({ operation: 'getCustomerId', kind: 'status', status: 503 }),
    end: async ({ gateway }) => gateway.clearFaults(),
  },
  {
    title: 'One account fails, of 200',
    alerts: ['TradingGraphPositionsOld'],
    lines: [
      fails('reads', '5xx'),
      {
        says: '`a backend of the gateway still fails` or `… fails no more`, `accounts: 1`',
        fits: ({ msg, accounts }) =>
          accounts === 1 &&
          (msg === 'a backend of the gateway still fails' ||
            msg === 'a backend of the gateway fails no more'),
      },
    ],
    begin: async ({ gateway }) =>
      gateway.fail({ operation: '*', kind: 'status', status: 500, login: 800_001 }),
    end: async ({ gateway }) => gateway.clearFaults(),
  },
  {
    title: 'Orders are cut off after they were sent',
    alerts: ['TradingGraphOrderUnknown'],
    lines: [fails('orders', 'reset')],
    begin: async ({ gateway }) =>
      gateway.fail({ operation: 'openPosition', kind: 'reset-after', times: 1 }),
    end: async ({ gateway }) => gateway.clearFaults(),
  },
  {
    title: 'Redis is away',
    needs: 'redis',
    alerts: ['TradingGraphRedisDown', 'TradingGraphOrderStoreDegraded', 'TradingGraphOrdersUnsent'],
    lines: [
      {
        says: '`Redis cannot be reached: …`',
        fits: ({ msg }) => String(msg).startsWith('Redis cannot be reached'),
      },
    ],
    reasons: ['redis', 'order-store'],
    begin: async ({ redis }) => redis?.kill(),
    end: async ({ redis }) => redis?.start(),
  },
  {
    title: 'Redis is full',
    needs: 'redis',
    alerts: [
      'TradingGraphRedisRefuses',
      'TradingGraphOrderStoreDegraded',
      'TradingGraphOrdersUnsent',
    ],
    lines: [
      {
        says: '`Redis refuses commands: …`, `reason: OOM`',
        fits: ({ msg, reason }) =>
          String(msg).startsWith('Redis refuses commands') && reason === 'OOM',
      },
    ],
    reasons: ['redis', 'order-store'],
    begin: async ({ redis }) => redis?.command('CONFIG', 'SET', 'maxmemory', 1),
    end: async ({ redis }) => redis?.command('CONFIG', 'SET', 'maxmemory', 0),
  },
  {
    title: 'One operation is slow: each of its calls takes 3 s',
    alerts: ['TradingGraphOperationSlow'],
    lines: [
      {
        says: '`an operation of the gateway is slow`, `operation: getCustomerId`',
        fits: ({ msg, operation }) =>
          msg === 'an operation of the gateway is slow' && operation === 'getCustomerId',
      },
    ],
    reasons: ['slow'],
    begin: async ({ gateway }) =>
      gateway.fail({ operation: 'getCustomerId', kind: 'delay', delayMs: 3_000 }),
    end: async ({ gateway }) => gateway.clearFaults(),
  },
  {
    title: 'The clock is two hours off the gateway’s',
    alerts: ['TradingGraphClockSkewed'],
    lines: [
      {
        says: '`the clocks here and at the gateway differ`, `skewSeconds`',
        fits: ({ msg, skewSeconds }) =>
          msg === 'the clocks here and at the gateway differ' && Number(skewSeconds) > 7_000,
      },
    ],
    reasons: ['clock'],
    begin: async ({ gateway }) =>
      gateway.fail({ operation: '*', kind: 'clock', shiftSeconds: 7_200 }),
    end: async ({ gateway }) => gateway.clearFaults(),
  },
  {
    title: 'The tokens are signed with another key than `JWT_SECRET`',
    alerts: ['TradingGraphTokensRefused'],
    lines: [
      {
        says: '`known tokens are refused`, `operation: verification`',
        fits: ({ msg, operation }) =>
          msg === 'known tokens are refused' && operation === 'verification',
      },
    ],
    reasons: ['tokens'],
    environment: { JWT_SECRET },
    begin: (stage) => stage.restartGateway({ secret: 'the key that came after it, in the night' }),
    end: (stage) => stage.restartGateway({ secret: JWT_SECRET }),
  },
  {
    title: 'One operation refuses all tokens, the positions',
    alerts: ['TradingGraphTokensRefused'],
    lines: [
      {
        says: '`known tokens are refused`, `operation: getOpenPositions`',
        fits: ({ msg, operation }) =>
          msg === 'known tokens are refused' && operation === 'getOpenPositions',
      },
    ],
    reasons: ['tokens'],
    begin: async ({ gateway }) =>
      gateway.fail({ operation: 'getOpenPositions', kind: 'status', status: 401 }),
    end: async ({ gateway }) => gateway.clearFaults(),
  },
  {
    title: 'The disk of the order file is full',
    needs: 'small disk',
    alerts: ['TradingGraphOrderStoreDegraded', 'TradingGraphOrdersUnsent'],
    lines: [
      {
        says: '`…/orders.db cannot grow: make room on the disk`',
        fits: ({ msg }) => String(msg).includes('orders.db cannot grow'),
      },
    ],
    reasons: ['order-store'],
    begin: async ({ disk }) => disk?.fill(),
    end: async ({ disk }) => disk?.free(),
  },
  restarted(
    'A wrong path in `GATEWAY_URL`',
    ({ gateway }) => ({ GATEWAY_URL: `${gateway.url}/elsewhere` }),
    'GATEWAY_URL',
  ),
  restarted(
    'A wrong name in `GATEWAY_LOGIN_CLAIM`',
    () => ({ GATEWAY_LOGIN_CLAIM: 'trading_login' }),
    'GATEWAY_LOGIN_CLAIM',
  ),
  {
    title: 'The process is gone',
    alerts: ['TradingGraphAllDown', 'TradingGraphInstanceDown'],
    lines: [],
    begin: (stage) => stage.stopFacade(),
    end: (stage) => stage.startFacade(),
  },
];
