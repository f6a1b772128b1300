/** Which Java of a machine the image is made of, and what is said where there is none. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findJava } from '../../docker/java-image.ts';

let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'java-home-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A runtime as far as its files tell; `parts` beside `bin/java`. */
function home(name: string, ...parts: readonly string[]): string {
  for (const part of ['bin/java', ...parts]) {
    mkdirSync(join(folder, name, part, '..'), { recursive: true });
    writeFileSync(join(folder, name, part), part);
    chmodSync(join(folder, name, part), 0o755);
  }
  return join(folder, name);
}

it('is the one to which `java` belongs, behind all links', async () => {
  const jre = home('jre', 'lib/modules', 'release');
  symlinkSync(join(jre, 'bin/java'), join(folder, 'java'));
  const found = await findJava({}, () => join(folder, 'java'));
  expect(found).toEqual({ home: jre, release: 'release', links: false });
});

it('is the one that JAVA_HOME names, and links where it is a JDK', async () => {
  const jdk = home('jdk', 'lib/modules', 'bin/jlink', 'jmods/java.base.jmod');
  expect(await findJava({ JAVA_HOME: jdk }, () => null)).toMatchObject({ home: jdk, links: true });
});

it('says in one line what to install where there is none', async () => {
  await expect(findJava({}, () => null)).rejects.toThrow(/none on this machine: install a JDK \(package /);
});

it('says so too where `java` is older than runtimes that can be copied', async () => {
  const old = home('old', 'lib/rt.jar');
  await expect(findJava({}, () => join(old, 'bin/java'))).rejects.toThrow(/Java 11 or later\): install a JDK/);
});
