// Compares the compose file and the manifests of the printed manual with schemas of Debian's packages: docker-compose
// and python3-kubernetes.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { directory, run } from '../e2e/executable.ts'

const CHECK = join(import.meta.dirname, 'manifests.py')

async function printedBlocks(t: TestContext): Promise<string[]> {
  const { out } = await run(t, ['manual', 'containers'])
  return [...out.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(([, block = '']) => block)
}

/** Has docker-compose read a file, whose schema it checks before anything else. */
function readCompose(t: TestContext, text: string) {
  const file = join(directory(t), 'compose.yaml')
  writeFileSync(file, text)
  return spawnSync('docker-compose', ['--file', file, 'config', '--quiet'], { encoding: 'utf8' })
}

function checkManifests(text: string) {
  return spawnSync('/usr/bin/python3', [CHECK], { input: text, encoding: 'utf8' })
}

test("the compose file of the manual has the schema of Debian's docker-compose", async (t) => {
  const [compose = ''] = await printedBlocks(t)
  const { status, stderr } = readCompose(t, compose)
  assert.deepEqual([status, stderr], [0, ''])
  const mistyped = readCompose(t, compose.replace('read_only:', 'readonly:'))
  assert.equal(mistyped.status, 1)
  assert.match(mistyped.stderr, /Unsupported config option.*'readonly'/)
})

test('the manifests of the manual have the fields and types of Kubernetes', async (t) => {
  const [, server = '', nodes = ''] = await printedBlocks(t)
  for (const [text, kind] of [
    [server, 'StatefulSet'],
    [nodes, 'Deployment'],
  ] as const) {
    const { stdout, stderr } = checkManifests(text)
    assert.deepEqual([stdout, stderr], [`Service\n${kind}\n`, ''])
    for (const [right, wrong] of [
      ['failureThreshold:', 'failureTreshold:'],
      ['containerPort: 8080', 'containerPort: "8080"'],
    ] as const) {
      assert.ok(text.includes(right))
      assert.equal(checkManifests(text.replace(right, wrong)).status, 1, wrong)
    }
  }
})
