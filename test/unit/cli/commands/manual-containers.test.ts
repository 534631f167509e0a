// Checks the compose file and the manifests of `manual containers`. Their variables and paths are those of the program,
// and their parts fit together. Their schemas have a test in test/release.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Document, parseAllDocuments } from 'yaml'
import { variableName } from '../../../../src/cli/options/names.ts'
import { OPTIONS } from '../../../../src/cli/options/options.ts'
import { ROUTES } from '../../../../src/http/routes.ts'
import { runCommand } from '../../../support/terminal.ts'

const USER = 65532
const IMAGE = 'registry.example.com/cambista:VERSION'

async function printedBlocks(env: Record<string, string> = {}): Promise<string[]> {
  const { out } = await runCommand(['manual', 'containers'], env)
  return [...out.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(([, block = '']) => block)
}

// biome-ignore lint/suspicious/noExplicitAny: documents of any shape, of which the tests name the fields
function parseYaml(block: string): any[] {
  const documents: Document[] = parseAllDocuments(block, { strict: true, uniqueKeys: true })
  assert.deepEqual(
    documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]),
    [],
  )
  return documents.map((document) => document.toJS())
}

const [composeBlock = '', ...manifestBlocks] = await printedBlocks()

test('`manual containers` prints a compose file and manifests, the same in both languages', async () => {
  assert.equal(manifestBlocks.length, 2)
  assert.deepEqual(await printedBlocks({ LANG: 'es_CR.UTF-8' }), [composeBlock, ...manifestBlocks])
})

test('the compose file runs one server with a read-only root, a volume and a limit of memory', () => {
  const [{ services, volumes }] = parseYaml(composeBlock)
  assert.deepEqual(services, {
    cambista: {
      image: IMAGE,
      restart: 'unless-stopped',
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      ports: ['127.0.0.1:8080:8080'],
      volumes: ['data:/data'],
      mem_limit: '768m',
      stop_grace_period: '30s',
    },
  })
  assert.deepEqual(Object.keys(volumes), ['data'])
})

for (const [at, kind] of ['StatefulSet', 'Deployment'].entries()) {
  const [service, workload] = parseYaml(manifestBlocks[at] ?? '')
  const { spec } = workload
  const pod = spec.template.spec
  const [container] = pod.containers

  test(`the ${kind} has a Service, and its pods have the labels that both select`, () => {
    assert.deepEqual([service.kind, workload.kind], ['Service', kind])
    assert.deepEqual(spec.template.metadata.labels, spec.selector.matchLabels)
    assert.deepEqual(spec.template.metadata.labels, service.spec.selector)
    assert.deepEqual(service.spec.ports, [{ port: container.ports[0].containerPort }])
    assert.equal(spec.serviceName ?? service.metadata.name, service.metadata.name)
    assert.equal(container.image, IMAGE)
  })

  test(`the ${kind} mounts the volumes that it has, and may write into nothing else`, () => {
    const claims = spec.volumeClaimTemplates ?? []
    const volumes = [
      ...claims.map(({ metadata }: typeof claims) => metadata.name),
      ...(pod.volumes ?? []).map(({ name }: typeof pod) => name),
    ]
    assert.deepEqual(
      container.volumeMounts.map(({ name }: typeof container) => name),
      volumes,
    )
    assert.equal(container.securityContext.readOnlyRootFilesystem, true)
    assert.equal(container.securityContext.allowPrivilegeEscalation, false)
    assert.equal(pod.securityContext.runAsNonRoot, true)
    assert.equal(pod.securityContext.fsGroup, claims.length > 0 ? USER : undefined)
  })

  test(`the probes of the ${kind} request existing paths, and kill no loaded server`, () => {
    const { startupProbe, readinessProbe, livenessProbe } = container
    for (const { httpGet } of [startupProbe, readinessProbe, livenessProbe]) {
      assert.equal(httpGet.port, container.ports[0].containerPort)
      const [path] = httpGet.path.split('?')
      assert.ok(Object.keys(ROUTES).includes(`GET ${path}`), path)
    }
    assert.equal(livenessProbe.httpGet.path, '/healthz', 'a restart does not bring the database back')
    assert.equal(readinessProbe.httpGet.path, kind === 'Deployment' ? '/readyz?rates' : '/readyz')
    assert.ok(livenessProbe.periodSeconds * livenessProbe.failureThreshold >= 300)
    assert.ok(startupProbe.periodSeconds * startupProbe.failureThreshold >= 600)
  })

  test(`each variable of the ${kind} is an option of the program`, () => {
    const names = new Set(Object.keys(OPTIONS).map(variableName))
    const variables: { name: string; value: string }[] = container.env ?? []
    assert.deepEqual(
      variables.map(({ name }) => name).filter((name) => !names.has(name)),
      [],
    )
    const [mount] = container.volumeMounts
    const files = variables.filter(({ name }) => name.endsWith('_FILE'))
    assert.equal(files.length, kind === 'Deployment' ? 2 : 0)
    for (const { value } of files) assert.ok(value.startsWith(`${mount.mountPath}/`), value)
  })
}

test('the StatefulSet has one server, since a data directory has one', () => {
  const [, workload] = parseYaml(manifestBlocks[0] ?? '')
  assert.equal(workload.spec.replicas, 1)
})
