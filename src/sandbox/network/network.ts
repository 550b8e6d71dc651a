import type { Duplex } from "node:stream";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../observe/observe.ts";
import type { OwnerId } from "../../protocol/ids.ts";
import { createLookup, type Lookup, type NetworkRules } from "../../web/web.ts";
import { type Meter, type ProxyLimits, proxyLimits, serveNetwork } from "./proxy.ts";

/** The way out for the guests of all users. */
export interface Network {
  /** For a guest that is about to be opened; undefined where nobody is allowed to be reached. */
  wayOut(owner: OwnerId, more?: MoreHosts): ((link: Duplex) => void) | undefined;
}

/** Hosts that only this guest may reach, besides those of the settings. */
export type MoreHosts = { readonly hosts: readonly string[]; readonly onRefusal: (text: string) => void };

export type NetworkOptions = {
  /** What it says counts from the next connection on. */
  readonly rules: NetworkRules;
  /** At which this process listens itself: there no program reaches this machine, whatever the rules say. May grow. */
  readonly ownPorts?: ReadonlySet<number> | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Others in tests. */
  readonly lookup?: Lookup | undefined;
  readonly limits?: Partial<ProxyLimits> | undefined;
};

const noMore: MoreHosts = { hosts: [], onRefusal: () => {} };

export function openNetwork({ rules, clock, logger, ownPorts = new Set(), ...options }: NetworkOptions): Network {
  const lookup = options.lookup ?? createLookup();
  const limits = { ...proxyLimits, ...options.limits };
  /** By user, as long as a guest of theirs lives. */
  const meters = new Map<OwnerId, Meter & { guests: number }>();
  return {
    wayOut(owner, { hosts, onRefusal } = noMore) {
      if (rules.hosts.length + hosts.length === 0) return undefined;
      return (link) => {
        const meter = meters.get(owner) ?? { bytes: 0, guests: 0 };
        meters.set(owner, meter);
        meter.guests += 1;
        link.once("close", () => {
          meter.guests -= 1;
          if (meter.guests === 0) meters.delete(owner);
        });
        const current = () => ({ hosts: [...rules.hosts, ...hosts], privateHosts: rules.privateHosts });
        serveNetwork(link, { rules: current, ownPorts, lookup, meter, limits, clock, logger, owner, onRefusal });
      };
    },
  };
}
