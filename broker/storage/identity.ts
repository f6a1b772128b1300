/**
 * Whose data directory this is, and how often its node has started.
 *
 * `meta.properties` holds the cluster's id and the node's, as in Kafka (version 1), so that a node never serves
 * another's logs. `boot-count` counts the starts; it is flushed before a number is used, because the names of messages
 * (`broker-<node>.<boot>#<correlation id>`) must never come back.
 */
import * as fs from 'node:fs';
import { join } from 'node:path';
import type { Peer } from '../core/step.ts';
import { onDisk, readText, replaceFile, StorageError } from './files.ts';

export interface Identity {
  readonly node: Peer;
  readonly clusterId: string;
}

/** Makes the directory where it is missing, checks that it is this node's, and counts one more start. */
export function openIdentity(directory: string, identity: Identity): { readonly boot: number } {
  onDisk('create', directory, () => fs.mkdirSync(directory, { recursive: true }));
  checkOwner(join(directory, 'meta.properties'), identity);
  return { boot: countBoot(join(directory, 'boot-count')) };
}

function checkOwner(path: string, { node, clusterId }: Identity): void {
  const text = readText(path);
  if (text === undefined) {
    replaceFile(path, `version=1\ncluster.id=${clusterId}\nnode.id=${node}\n`);
    return;
  }
  const remedy = `restore the file, or delete it if this directory is that of node ${node} of cluster ${clusterId}`;
  const properties = new Map<string, string>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const equals = line.indexOf('=');
    if (equals < 1) throw new StorageError(`${path} is corrupt: \`${line.slice(0, 40)}\` is no property; ${remedy}`);
    properties.set(line.slice(0, equals), line.slice(equals + 1));
  }
  if (properties.get('version') !== '1') throw new StorageError(`${path} is corrupt: its version is not 1; ${remedy}`);
  const found = { node: properties.get('node.id'), clusterId: properties.get('cluster.id') };
  if (found.node === undefined || found.clusterId === undefined) {
    throw new StorageError(`${path} is corrupt: node.id or cluster.id is missing; ${remedy}`);
  }
  if (found.node !== String(node) || found.clusterId !== clusterId) {
    throw new StorageError(
      `${path} says node ${found.node} of cluster ${found.clusterId}, this is node ${node} of cluster ${clusterId}; ` +
        'give each node a data directory of its own',
    );
  }
}

function countBoot(path: string): number {
  const text = readText(path);
  if (text !== undefined && !/^[1-9]\d{0,14}\n$/.test(text)) {
    throw new StorageError(
      `${path} is corrupt: it holds no number; write into it a number that is above every boot of this node so far`,
    );
  }
  const boot = text === undefined ? 1 : Number(text) + 1;
  replaceFile(path, `${boot}\n`);
  return boot;
}
