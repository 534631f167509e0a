<?php
// URL: rates of the file, read line by line with the regular expressions of the ECB's own page.
$rates = [];
$day = '';
foreach (file($argv[1]) as $line) {
    if (preg_match("/time='([[:graph:]]+)'/", $line, $time)) {
        $day = $time[1];
    }
    if (preg_match("/currency='([[:alpha:]]+)'/", $line, $currencyCode)) {
        if (preg_match("/rate='([[:graph:]]+)'/", $line, $rate)) {
            $rates[$day][$currencyCode[1]] = $rate[1];
        }
    }
}
echo json_encode($rates);
