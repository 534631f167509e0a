<?php
// TODAY DAY QUOTE: units of a currency for one euro, by the rules of florianv/exchanger's reader of the ECB's files.
// It is written for this test from these rules, since neither Debian nor npm has the package. Its elements are found by
// XPath in the ECB's namespace. Today is in the daily file, and the first `time` is its day. For another day the very
// day must be in the file of 90 days, or in the history if it is older.
[, $today, $day, $quote] = $argv;
$age = (new DateTime($day))->diff(new DateTime($today))->days;
$file = $day === $today ? 'daily' : ($age > 90 ? 'hist' : 'hist-90d');
$context = stream_context_create([
    'http' => ['proxy' => str_replace('http://', 'tcp://', getenv('https_proxy'))],
    'ssl' => ['cafile' => getenv('SSL_CERT_FILE')],
]);
$text = file_get_contents("https://www.ecb.europa.eu/stats/eurofxref/eurofxref-$file.xml", false, $context);
$xml = new SimpleXMLElement($text);
$xml->registerXPathNamespace('ecb', 'http://www.ecb.int/vocabulary/2002-08-01/eurofxref');
$within = $day === $today ? '' : "[@time=\"$day\"]/ecb:Cube";
$times = $xml->xpath($day === $today ? '//ecb:Cube[@time]/@time' : "//ecb:Cube[@time=\"$day\"]/@time");
$rates = $xml->xpath("//ecb:Cube{$within}[@currency=\"$quote\"]/@rate");
echo json_encode(['day' => $times ? (string) $times[0] : null, 'rate' => $rates ? (float) $rates[0] : null]);
