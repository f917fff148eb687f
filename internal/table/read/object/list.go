// SPDX-License-Identifier: Apache-2.0

//go:build !js

package object

import (
	"context"
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"slices"
)

// maxObjects is the largest number of objects in a folder.
const maxObjects = 100_000

// listing is one page of the objects in a folder, as a store writes it.
type listing struct {
	EncodingType          string
	IsTruncated           bool
	NextContinuationToken string
	Contents              []struct {
		Key  string
		Size int64
		ETag string
	}
	CommonPrefixes []struct{ Prefix string }
}

// List lists the objects and folders in the folder at an address, in the order of bytes. Addresses of
// folders end in a slash.
func List(ctx context.Context, folder string) (addresses []string, err error) {
	bucket, key, err := split(folder)
	if err != nil {
		return nil, err
	}
	h, c, err := begin(ctx)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if known, ok := h.folders[folder]; ok {
		return known, nil
	}
	query := map[string]string{"list-type": "2", "delimiter": "/", "encoding-type": "url", "prefix": key}
	for {
		var page listing
		r := request{method: http.MethodGet, address: folder, bucket: bucket, query: query}
		err := c.ask(ctx, r, func(a *http.Response) (err error) {
			page, err = readListing(folder, a.Body)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, o := range page.Contents {
			if o.Key == key {
				continue // which some programs make to stand for the folder
			}
			address := prefix + bucket + "/" + o.Key
			addresses = append(addresses, address)
			if v := (version{o.Size, o.ETag}); o.ETag != "" && o.Size >= 0 {
				h.objects[address] = v
			}
		}
		for _, p := range page.CommonPrefixes {
			addresses = append(addresses, prefix+bucket+"/"+p.Prefix)
		}
		if len(addresses) > maxObjects {
			return nil, &Error{folder, "must have at most 100,000 objects"}
		}
		if !page.IsTruncated {
			break
		}
		if page.NextContinuationToken == "" || page.NextContinuationToken == query["continuation-token"] {
			return nil, &Error{folder, "must be listed by the store to the end"}
		}
		query["continuation-token"] = page.NextContinuationToken
	}
	slices.Sort(addresses)
	addresses = slices.Compact(addresses)
	h.folders[folder] = addresses
	return addresses, nil
}

// readListing reads one page.
func readListing(folder string, body io.Reader) (page listing, err error) {
	text, err := io.ReadAll(io.LimitReader(body, maxAnswer+1))
	if err != nil {
		return page, err
	}
	wrong := &Error{folder, "must be listed by the store as the protocol of Amazon S3 has it"}
	if len(text) > maxAnswer || xml.Unmarshal(text, &page) != nil {
		return page, wrong
	}
	if page.EncodingType != "url" {
		return page, nil
	}
	for i := range page.Contents {
		if page.Contents[i].Key, err = url.QueryUnescape(page.Contents[i].Key); err != nil {
			return page, wrong
		}
	}
	for i := range page.CommonPrefixes {
		if page.CommonPrefixes[i].Prefix, err = url.QueryUnescape(page.CommonPrefixes[i].Prefix); err != nil {
			return page, wrong
		}
	}
	return page, nil
}
