/**
 * Which versions of which APIs the harness speaks with a cluster, from what its brokers say that they serve.
 *
 * One version per API for the whole cluster, also where brokers of several versions stand in it: the one that is used
 * with our own brokers if all serve it, else the nearest older one, else the nearest newer one. So our own runs keep
 * their bytes, and a broker of 2017 is spoken to as clients of 2017 did.
 *
 * Invariant: a version is only chosen if every broker has it in its range and our tables have it too.
 */
import { apis } from '../../broker/protocol/index.ts';
import type { ApiName, ResponseBody } from '../../broker/protocol/index.ts';
import type { NodeId } from '../../nemesis/ports.ts';
import { adminVersions, type AdminVersions } from './admin-requests.ts';
import { defaultClientConfig, type ClientConfig } from './contract.ts';

export interface Versions {
  readonly client: ClientConfig['versions'];
  readonly admin: AdminVersions;
  /** Null where there is no quorum of controllers: in ZooKeeper's time, and with our own. */
  readonly describeQuorum: number | null;
}

/** What our own brokers are spoken to in, and what is preferred with any other. */
export const ownVersions: Versions = {
  client: defaultClientConfig.versions,
  admin: adminVersions,
  describeQuorum: null,
};

/** The versions to speak, or in one sentence why there are none. */
export type Negotiated =
  | { readonly versions: Versions; readonly refusal: null }
  | { readonly versions: null; readonly refusal: string };

/** Decides from each broker's answer to ApiVersions. */
export function negotiate(answers: ReadonlyMap<NodeId, ResponseBody<'ApiVersions'>>): Negotiated {
  const wanted: readonly (readonly [ApiName, number])[] = [
    ...(Object.entries(ownVersions.client) as [ApiName, number][]),
    ['CreateTopics', adminVersions.CreateTopics],
  ];
  const chosen = new Map(wanted.map(([api, preferred]) => [api, choose(api, preferred, answers)]));
  for (const [api, version] of chosen) {
    if (version === null) return { versions: null, refusal: nothingInCommon(api, answers) };
  }
  const of = (api: ApiName): number => chosen.get(api) as number;
  const optional = (api: 'ElectLeaders' | 'AlterPartitionReassignments'): number | null =>
    choose(api, adminVersions[api], answers);
  return {
    versions: {
      client: {
        Produce: of('Produce'),
        Fetch: of('Fetch'),
        ListOffsets: of('ListOffsets'),
        Metadata: of('Metadata'),
      },
      admin: {
        Metadata: of('Metadata'),
        CreateTopics: of('CreateTopics'),
        ListOffsets: of('ListOffsets'),
        // A private API, which no broker announces and only ours serve.
        MoveLeader: adminVersions.MoveLeader,
        ElectLeaders: optional('ElectLeaders'),
        AlterPartitionReassignments: optional('AlterPartitionReassignments'),
      },
      describeQuorum: choose('DescribeQuorum', apis.DescribeQuorum.maxVersion, answers),
    },
    refusal: null,
  };
}

type Range = readonly [min: number, max: number];

function choose(
  api: ApiName,
  preferred: number,
  answers: ReadonlyMap<NodeId, ResponseBody<'ApiVersions'>>,
): number | null {
  let [min, max]: Range = [apis[api].minVersion, apis[api].maxVersion];
  for (const answer of answers.values()) {
    const range = rangeOf(answer, api);
    if (range === null) return null;
    min = Math.max(min, range[0]);
    max = Math.min(max, range[1]);
  }
  return min > max ? null : Math.min(Math.max(preferred, min), max);
}

function rangeOf(answer: ResponseBody<'ApiVersions'>, api: ApiName): Range | null {
  const served = answer.apiKeys.find(({ apiKey }) => apiKey === apis[api].key);
  return served === undefined ? null : [served.minVersion, served.maxVersion];
}

function nothingInCommon(api: ApiName, answers: ReadonlyMap<NodeId, ResponseBody<'ApiVersions'>>): string {
  const theirs = [...answers].map(([node, answer]) => {
    const range = rangeOf(answer, api);
    return `broker ${node} serves ${range === null ? 'none' : `${range[0]} to ${range[1]}`}`;
  });
  const { minVersion, maxVersion } = apis[api];
  return `no version of ${api} is common to all: this client speaks ${minVersion} to ${maxVersion}, ${theirs.join(', ')}`;
}
