// The Python example, run by Debian's Python.

import { testConnector, testVersion } from './connectors.ts'

const PYTHON = '/usr/bin/python3'

await testConnector('python', (file) => [PYTHON, file])
testVersion('python', [PYTHON, '--version'], /Python (\d+\.\d+)/)
