// The Java example, compiled by javac and run by the JDK.

import { dirname } from 'node:path'
import { run } from '../support.ts'
import { testConnector, testVersion } from './connectors.ts'

await testConnector('java', async (file) => {
  await run('javac', ['-Xlint:all,-serial', '-Werror', file])
  return ['java', '-cp', dirname(file), 'Cambista']
})
testVersion('java', ['java', '--version'], /openjdk (\d+)/)
