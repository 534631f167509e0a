// The C# example, compiled by mcs and run by Mono.

import { dirname, join } from 'node:path'
import { run } from '../support.ts'
import { testConnector, testVersion } from './connectors.ts'

await testConnector('csharp', async (file) => {
  const program = join(dirname(file), 'cambista.exe')
  await run('mcs', ['-warnaserror', `-out:${program}`, file])
  return ['mono', program]
})
testVersion('csharp', ['mono', '--version'], /version (\d+\.\d+)/)
