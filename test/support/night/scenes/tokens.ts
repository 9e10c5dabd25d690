import { gatewayFault, line, restartedWith, type Scene, settingLooksWrong } from '../scene.ts';

const JWT_SECRET = 'the key that the service knows, for a night';

/** Tokens, their keys and their claims. */
export const TOKEN_SCENES: readonly Scene[] = [
  {
    title: 'The tokens are signed with another key than `JWT_SECRET`',
    alerts: ['TradingGraphTokensRefused'],
    lines: [line('known tokens are refused', '"operation":"verification"')],
    reasons: ['tokens'],
    environment: { JWT_SECRET },
    begin: (stage) => stage.restartGateway({ secret: 'the key that came after it, in the night' }),
    end: (stage) => stage.restartGateway({ secret: JWT_SECRET }),
  },
  {
    title: 'One operation refuses all tokens, the positions',
    alerts: ['TradingGraphTokensRefused'],
    lines: [line('known tokens are refused', '"operation":"getOpenPositions"')],
    reasons: ['tokens'],
    ...gatewayFault({ operation: 'getOpenPositions', kind: 'status', status: 401 }),
  },
  {
    title: 'Every operation refuses all tokens',
    alerts: ['TradingGraphTokensRefused'],
    lines: [line('known tokens are refused', '"operation":"getSession"')],
    reasons: ['tokens'],
    ...gatewayFault({ operation: '*', kind: 'status', status: 401 }),
  },
  {
    title: 'A wrong name in `GATEWAY_LOGIN_CLAIM`',
    alerts: ['TradingGraphSettingsWrong'],
    lines: [settingLooksWrong('GATEWAY_LOGIN_CLAIM')],
    reasons: ['settings'],
    ...restartedWith(() => ({ GATEWAY_LOGIN_CLAIM: 'trading_login' })),
  },
];
