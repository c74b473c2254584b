#!/bin/sh
# uninstall.sh PREFIX DESTDIR [LIBDIR]: removes what install.sh put there, and folders that are empty then.
set -eu
root=$2$1
list=$root/share/recal/$(echo "${3:-lib}" | tr / -).files
if ! [ -f "$list" ]; then
    echo "uninstall.sh: there is no $list: nothing is known to be installed" >&2
    exit 1
fi
echo "share/recal/$(basename "$list")" | cat "$list" - | while read -r file; do
    rm -f "$root/$file"
    # Up to the first folder that holds something, the prefix at most.
    folder=$(dirname "$file")
    while [ "$folder" != . ] && rmdir "$root/$folder" 2>/dev/null; do
        folder=$(dirname "$folder")
    done
done
