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
// All but three that are not recommended: the server has no address for its operator, MIT needs no URL beside its
// identifier, and tags are in the order in which a reader wants them.
const rules = { 'contact-properties': 'off', 'license-url': 'off', 'openapi-tags-alphabetical': 'off' }
spectral.setRuleset({ extends: [[spectralRulesets.oas, 'all']], rules })
const found = await spectral.run(JSON.parse(source))

const lines = [
  ...redocly.map(({ ruleId, message, location }) => `redocly ${ruleId} ${location[0]?.pointer}: ${message}`),
  ...found.map(({ code, message, path }) => `spectral ${code} ${path.join('/')}: ${message}`),
]
process.stdout.write(JSON.stringify(lines))
