import type { Config } from '../config.ts';

export function sandboxSettings(config: Config) {
  return {
    seed: config.sandboxSeed,
    instruments: config.sandboxInstruments,
    tickMs: config.sandboxTickMs,
    secret: config.jwtSecret ?? undefined,
    loginClaim: config.gatewayLoginClaim,
    groupClaim: config.gatewayGroupClaim,
    directionField: config.gatewayDirectionField,
    mobileWallet: config.gatewayMobileWallet,
  };
}
