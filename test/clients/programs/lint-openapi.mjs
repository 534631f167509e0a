// Prints what Redocly's recommended rules and Spectral's rules for OpenAPI find in a description, one line each.

import { readFileSync } from 'node:fs'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectralCore from '@stoplight/spectral-core'
import spectralRulesets from '@stoplight/spectral-rulesets'

const [file] = process.argv.slice(2)
const source = readFileSync(file, 'utf8')

const config = await createConfig({ extends: ['recommended'] })
const redocly = await lintFromString({ source, absoluteRef: file, config })

const spectral = new spectralCore.Spectral()
// Three rules are off. The operator has no address in the description, MIT needs no URL beside its identifier, and
// tags are in reading order.
const rules = { 'contact-properties': 'off', 'license-url': 'off', 'openapi-tags-alphabetical': 'off' }
spectral.setRuleset({ extends: [[spectralRulesets.oas, 'all']], rules })
const findings = await spectral.run(JSON.parse(source))

const lines = [
  ...redocly.map(({ ruleId, message, location }) => `redocly ${ruleId} ${location[0]?.pointer}: ${message}`),
  ...findings.map(({ code, message, path }) => `spectral ${code} ${path.join('/')}: ${message}`),
]
process.stdout.write(JSON.stringify(lines))
