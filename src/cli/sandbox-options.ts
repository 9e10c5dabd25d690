import type { Config } from '../config.ts';
import type { SandboxOptions } from '../sandbox/start.ts';

/** A sandbox gateway that fits the configuration. */
export function sandboxOptions(config: Config): SandboxOptions {
  return {
    seed: config.sandboxSeed,
    instruments: config.sandboxInstruments,
    tickMs: config.sandboxTickMs,
    secret: config.jwtSecret ?? undefined,
    directionField: config.gatewayDirectionField,
    mobileWallet: config.gatewayMobileWallet,
    loginClaim: config.gatewayLoginClaim,
    groupClaim: config.gatewayGroupClaim,
  };
}
