#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Checks the packages in a folder: what they hold, that the program in them runs, the unit, and the
# signature of the checksums if there is one. The deb is installed in a chroot if debootstrap is here
# and we are root, the rpm into an empty root if rpm is here.
set -euo pipefail
packages=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cd "$packages"
sha256sum --check --strict SHA256SUMS
if [ -e SHA256SUMS.sig ]; then
	ssh-keygen -Y check-novalidate -n discreet-release -s SHA256SUMS.sig < SHA256SUMS
else
	echo "not signed: make packages SIGNING_KEY=FILE signs"
fi

for package in ./*.deb; do dpkg-deb --extract "$package" "$work/deb"; done
root=$work/deb
for file in usr/bin/discreet usr/share/man/man1/discreet-train.1.gz usr/share/man/man1/discreet-net-site.1.gz usr/share/bash-completion/completions/discreet \
	usr/lib/systemd/system/discreet-serve.service etc/discreet/serve.env usr/bin/discreet-net \
	usr/lib/systemd/system/discreet-site.service etc/discreet/site.env.example usr/share/discreet/site/alerts.yaml usr/share/discreet/discreet.schema.json; do
	[ -s "$root/$file" ] || { echo "the deb lacks $file"; exit 1; }
done
dpkg-deb --info ./discreet_*.deb conffiles | grep -qx /etc/discreet/serve.env
"$root/usr/bin/discreet" version
"$root/usr/bin/discreet-net" version
if command -v man > /dev/null; then
	for page in discreet-train discreet-net-site-serve; do
		man --warnings --local-file "$root/usr/share/man/man1/$page.1.gz" 2> "$work/man" > "$work/page"
		[ -s "$work/page" ] && [ ! -s "$work/man" ] || { cat "$work/man"; exit 1; }
	done
	echo "manual: man renders its pages without a warning"
fi
"$root/usr/bin/discreet" schema json-schema | cmp - "$root/usr/share/discreet/discreet.schema.json"

# The units name the installed programs and pages: here, those of the package.
if command -v systemd-analyze > /dev/null; then
	for unit in discreet-serve.service discreet-site.service; do
		sed "s|/usr/bin/discreet|$root/usr/bin/discreet|; s|/etc/discreet|$root/etc/discreet|; /^Documentation=/d" \
			"$root/usr/lib/systemd/system/$unit" > "$work/$unit"
		systemd-analyze verify --man=no "$work/$unit"
	done
	echo "units: systemd-analyze finds nothing"
fi

if [ "$(id -u)" = 0 ] && command -v debootstrap > /dev/null; then
	debootstrap --variant=minbase stable "$work/chroot" > "$work/log"
	cp ./*.deb "$work/chroot/"
	chroot "$work/chroot" sh -c 'dpkg --install /*.deb && discreet version && discreet-net version && dpkg --purge discreet discreet-net'
	echo "deb: installed and removed"
else
	echo "deb: not installed, since debootstrap or root is not here"
fi
if command -v rpm > /dev/null; then
	rpm --root "$work/rpm" --initdb
	rpm --root "$work/rpm" --nodeps --install ./*.rpm
	"$work/rpm/usr/bin/discreet" version
	"$work/rpm/usr/bin/discreet-net" version
	echo "rpm: installed"
else
	echo "rpm: not installed, since rpm is not here"
fi
