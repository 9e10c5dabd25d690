import type { Config } from '../config.ts';
import {
  createLog,
  type Log,
  type LogDestination,
  type LogFormat,
  openLogOutput,
} from '../lib/log.ts';
import type { BufferedOutput } from '../lib/log-output.ts';

export function createAppLog(config: Config, destination: LogDestination): Log {
  return createLog({ level: config.logLevel, format: formatOf(config), destination });
}

export function openAppLogOutput(config: Config): BufferedOutput {
  return openLogOutput(formatOf(config));
}

function formatOf({ sandbox }: Config): LogFormat {
  return sandbox ? 'compact' : 'json';
}
