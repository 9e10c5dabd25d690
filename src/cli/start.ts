import { type Command, readArguments } from './dispatch.ts';

export const startCommand: Command = {
  usage: [
    'Usage: trading-graph start',
    '',
    'Runs the service, as `npm start` does; without GATEWAY_URL a sandbox gateway runs inside.',
    'The environment configures it: docs/configuration.md lists the variables.',
  ].join('\n'),
  async run(args) {
    readArguments({ args: [...args], options: {} });
    // A command ends if the reader of its output disconnects, but the service continues without a reader of its log.
    process.stdout.removeAllListeners('error');
    await import('../main.ts');
    // The service ends its process itself: after a signal, or if it cannot start.
    return Promise.withResolvers<never>().promise;
  },
};
