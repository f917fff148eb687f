// SPDX-License-Identifier: Apache-2.0

//go:build !js

package object

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// config holds the address of a store, and the source of credentials, which renews those that expire.
type config struct {
	credentials aws.CredentialsProvider
	region      string
	endpoint    *url.URL // nil for Amazon's own
}

// readConfig looks for credentials in the places where Amazon's own programs look, in their order: the
// environment, the two files of profiles (with roles, single sign-on and processes), and the machine. Its
// errors contain no text of a file or a service.
func readConfig(ctx context.Context) (*config, error) {
	home, _ := os.UserHomeDir()
	for variable, usual := range map[string]string{"AWS_SHARED_CREDENTIALS_FILE": filepath.Join(home, ".aws", "credentials"),
		"AWS_CONFIG_FILE": filepath.Join(home, ".aws", "config"), "AWS_CA_BUNDLE": "", "AWS_WEB_IDENTITY_TOKEN_FILE": ""} {
		path := cmp.Or(os.Getenv(variable), usual)
		info, err := os.Stat(path)
		if path == "" || usual != "" && errors.Is(err, fs.ErrNotExist) { // files of profiles need not exist
			continue
		}
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxConfig {
			return nil, &dp.ParamError{Op: op, Param: variable, Want: "must be a file of at most 1 MiB", Got: path}
		}
	}
	found, err := awsconfig.LoadDefaultConfig(ctx, awsconfig.WithDefaultRegion("us-east-1"))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, &dp.ParamError{Op: op, Param: "profile of the store", Want: "must be in the files of profiles, " +
			"under the name in AWS_PROFILE, and well-formed"}
	}
	keys, err := found.Credentials.Retrieve(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, &dp.ParamError{Op: op, Param: "keys of the store", Want: "must be in AWS_ACCESS_KEY_ID and " +
			"AWS_SECRET_ACCESS_KEY, in the profile that AWS_PROFILE names, or in the machine's role"}
	}
	if strings.ContainsFunc(keys.AccessKeyID+keys.SecretAccessKey+keys.SessionToken, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return nil, &dp.ParamError{Op: op, Param: "keys of the store", Want: "must be printable ASCII without spaces"}
	}
	c := &config{credentials: found.Credentials, region: found.Region}
	if !regionName.MatchString(c.region) {
		return nil, &dp.ParamError{Op: op, Param: "AWS_REGION", Want: "must be lower-case letters, digits and hyphens"}
	}
	if at := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), aws.ToString(found.BaseEndpoint)); at != "" {
		u, err := url.Parse(at)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" {
			return nil, &dp.ParamError{Op: op, Param: "AWS_ENDPOINT_URL", // not quoted: it may hold a password
				Want: "must look like https://host:port, without a user or parameters"}
		}
		c.endpoint = u
	}
	return c, nil
}

var regionName = regexp.MustCompile(`^[a-z0-9-]+$`)

// maxConfig is the largest size of a file of settings in bytes.
const maxConfig = 1 << 20
