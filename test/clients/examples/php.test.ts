// The PHP example.

import { testConnector, testVersion } from './connectors.ts'

await testConnector('php', (file) => ['php', file])
testVersion('php', ['php', '--version'], /^PHP (\d+\.\d+)/)
