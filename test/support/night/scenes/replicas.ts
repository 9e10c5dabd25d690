import { setTimeout as delay } from 'node:timers/promises';
import type { NightReplica } from '../replica.ts';
import { line, type SceneRow } from '../scene.ts';

const RESTARTS = 4;
const UP_MS = 1_500;

/** Kills, restarts and builds. Which replica it hits is the seed's. */
export const REPLICA_SCENES: readonly SceneRow[] = [
  {
    title: 'The front proxy is gone, and all traffic with it',
    alerts: ['TradingGraphFrontDoor'],
    begin: (stage) => stage.stopBalancer(),
    end: (stage) => stage.restartBalancer(),
  },
  {
    title: 'All replicas are gone',
    alerts: ['TradingGraphFrontDoor', 'TradingGraphReplicas'],
    lines: [line('has no server available')],
    reasons: ['no answer'],
    begin: (stage) => stage.stopAll(),
    end: (stage) => stage.restartAll(),
  },
  onOne({
    title: 'One replica is killed',
    alerts: ['TradingGraphReplicas'],
    lines: [line('is DOWN')],
    reasons: ['no answer'],
    begin: (replica) => replica.kill(),
    end: (replica) => replica.start(),
  }),
  onOne({
    title: 'A replica restarts again and again',
    alerts: ['TradingGraphReplicas'],
    lines: [line('is DOWN'), line('serving')],
    reasons: ['no answer'],
    async begin(replica) {
      for (let restart = 0; restart < RESTARTS; restart += 1) {
        await replica.restart();
        // Long enough to be scraped, or Prometheus would not see that it lived.
        await delay(UP_MS);
      }
      await replica.kill();
    },
    end: (replica) => replica.start(),
  }),
  onOne({
    title: 'Two builds run at once',
    alerts: ['TradingGraphReplicas'],
    lines: [line('serving', '"revision":"of-tonight"')],
    reasons: ['two revisions'],
    begin: (replica) => replica.restart({ REVISION: 'of-tonight' }),
    end: (replica) => replica.restart(),
  }),
];

interface SceneOfOne extends Omit<SceneRow, 'begin' | 'end'> {
  begin(replica: NightReplica): Promise<void>;
  end(replica: NightReplica): Promise<void>;
}

function onOne(scene: SceneOfOne): SceneRow {
  let hit: NightReplica | null = null;
  return {
    ...scene,
    begin(stage) {
      hit = stage.drawReplica();
      return scene.begin(hit);
    },
    async end() {
      if (hit !== null) await scene.end(hit);
    },
  };
}
